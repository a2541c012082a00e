import { addressOf, type Gate } from '../audit/gate.ts';
import { readEnvironment } from '../config.ts';
import type { PolicySource } from '../policy/policy-source.ts';
import { ValueError } from '../errors.ts';
import { checkAgent, checkedOptions } from '../options.ts';
import { bind, openGate, withBound } from './binding.ts';
import type { BindingDeps, BindingOptions, PolicyBinding } from './binding.ts';
import type { Execute, RunOptions } from './run.ts';

/** An agent's own tools, as an object or a class instance. Parameters after the first are passed to the tool unchanged. */
// oxlint-disable-next-line typescript/no-explicit-any -- the only type that every function fits
export type Tools<Name extends PropertyKey = string> = Record<Name, (args: any, ...rest: any[]) => unknown>;

/** The tools that a run calls: each call is decided first, and returns a promise. */
export type GovernedTools<Own extends Tools<keyof Own> = Tools> = {
  [Name in keyof Own]: (...args: Parameters<Own[Name]>) => Promise<Awaited<ReturnType<Own[Name]>>>;
};

/** An agent: its tools, and the loop that calls them. */
export type Agent<Own extends Tools<keyof Own>, Input, Output> = {
  /** As it is registered. */
  name?: string | undefined;
  tools: Own;
  run(context: { tools: GovernedTools<Own> }, input: Input): Output;
};

/** An agent whose `run` does not declare the types of the tools that it calls. */
export type LooseAgent<Input, Output> = {
  name?: string | undefined;
  tools: Record<string, (args: never) => unknown>;
  run(context: { tools: Record<string, (args?: unknown) => unknown> }, input: Input): Output;
};

export type GovernOptions = BindingOptions & {
  /** Unset: bind if there is a name and a key or a local policy. True: bind or throw. False: never bind. */
  bindPolicy?: boolean | undefined;
};

type Runs<Input, Output> = {
  readonly name: string;
  readonly gate: Gate;
  run(input: Input, options?: RunOptions): Promise<Awaited<Output>>;
  runSync(input: Input, options?: RunOptions): Output;
};

/**
 * An agent under its policy. `run` refreshes the policy, then runs the agent; its tools return promises. `runSync` does the same but blocks
 * the thread: its tools are synchronous, and no events are emitted. It has the agent's own properties, except its tools.
 */
export type GovernedAgent<Input, Output> = Runs<Input, Output> & {
  readonly source: PolicySource;
  readonly isGoverned: true;
};

/** An unbound agent in the same shape: its runs call the agent with its own tools. Nothing is decided. */
export type BareAgent<Input, Output> = Omit<LooseAgent<Input, Output>, 'run' | 'name'> &
  Omit<Runs<Input, Output>, 'name'> & {
    readonly name?: string | undefined;
    readonly source: null;
    readonly isGoverned: false;
  };

type MustBind = GovernOptions & { bindPolicy: true };

export type Govern = {
  <Own extends Tools<keyof Own>, Input, Output>(
    agent: Agent<Own, Input, Output>,
    options: MustBind,
  ): Promise<GovernedAgent<Input, Output>>;
  <Own extends Tools<keyof Own>, Input, Output>(
    agent: Agent<Own, Input, Output>,
    options?: GovernOptions,
  ): Promise<GovernedAgent<Input, Output> | BareAgent<Input, Output>>;
  <Input, Output>(agent: LooseAgent<Input, Output>, options: MustBind): Promise<GovernedAgent<Input, Output>>;
  <Input, Output>(
    agent: LooseAgent<Input, Output>,
    options?: GovernOptions,
  ): Promise<GovernedAgent<Input, Output> | BareAgent<Input, Output>>;
};

export function createGovern(deps: BindingDeps): Govern {
  async function govern<Input, Output>(agent: LooseAgent<Input, Output>, given: GovernOptions = {}) {
    const options = checkedOptions('govern', given);
    checkAgent(agent);
    const agentName = options.agentName ?? agent.name;
    if (!shallBind(agentName, options)) return bare(agent, agentName, openGate(options, deps));
    if (typeof agentName !== 'string' || agentName === '')
      throw new ValueError('An agent that is bound to a policy needs a name: set agent.name or agentName');
    const toolNames = options.toolNames ?? toolNamesIn(agent.tools);
    return governed(agent, await bind({ ...options, agentName, toolNames }, deps));
  }
  return govern as Govern;
}

/** See docs/client.md, "Binding". */
function shallBind(name: string | undefined, options: GovernOptions): boolean {
  if (options.bindPolicy !== undefined) return options.bindPolicy;
  const environment = readEnvironment();
  const hasOverride = Boolean(options.localPolicy ?? environment.localPolicy) || options.policy !== undefined;
  const clientKey = options.client && addressOf(options.client).apiKey;
  const hasKey = Boolean(options.key ?? clientKey ?? environment.policyKey);
  return Boolean(name) && (hasOverride || hasKey);
}

function governed<Input, Output>(
  agent: LooseAgent<Input, Output>,
  binding: PolicyBinding,
): GovernedAgent<Input, Output> {
  const toolsOf = (call: CallTool) => {
    const tools = toolNamesIn(agent.tools).map((name) => {
      const execute = (args?: unknown, ...rest: unknown[]): unknown =>
        call(name, args, (decided) => (agent.tools[name] as Tools[string])(decided, ...rest));
      return [name, execute];
    });
    return Object.fromEntries(tools) as Record<string, (args?: unknown) => unknown>;
  };
  const { tools: _, ...own } = agent;
  const runs: Pick<GovernedAgent<Input, Output>, 'run' | 'runSync'> = {
    run: async (input, options): Promise<Awaited<Output>> => {
      const run = await binding.startRun(options);
      return await agent.run({ tools: toolsOf((...call) => run.call(...call)) }, input);
    },
    runSync: (input, options) => {
      const run = binding.startRunSync(options);
      return agent.run({ tools: toolsOf((...call) => run.callSync(...call)) }, input);
    },
  };
  return withBound({ ...own, ...runs, name: binding.agentName, isGoverned: true }, binding);
}

/** The functions and getters of an object, including those of its classes. */
function toolNamesIn(tools: object): string[] {
  const names = new Set<string>();
  let of = tools;
  do {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(of))) {
      const isConstructor = name === 'constructor' && of !== tools;
      const isTool = typeof property.value === 'function' || 'get' in property;
      if (isTool && !isConstructor) names.add(name);
    }
    of = Object.getPrototypeOf(of) as object;
    // Not Object.prototype, from whatever realm.
  } while (of !== null && Object.getPrototypeOf(of) !== null);
  return [...names];
}

type CallTool = (tool: string, args: unknown, execute: Execute) => unknown;

function bare<Input, Output>(
  agent: LooseAgent<Input, Output>,
  name: string | undefined,
  currentGate: () => Gate,
): BareAgent<Input, Output> {
  const tools = agent.tools as Record<string, (args?: unknown) => unknown>;
  const runSync = (input: Input): Output => agent.run({ tools }, input);
  return {
    ...agent,
    ...(name !== undefined && { name }),
    source: null,
    get gate() {
      return currentGate();
    },
    isGoverned: false,
    run: async (input): Promise<Awaited<Output>> => await runSync(input),
    runSync,
  };
}
