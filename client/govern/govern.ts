import type { Gate } from '../audit/gate.ts';
import { addressOf } from '../audit/gate.ts';
import { readEnvironment } from '../config.ts';
import type { PolicySource } from '../policy/policy-source.ts';
import { ValueError } from '../errors.ts';
import { bind, openGate, type Binding, type BindingOptions, type BindingDeps } from './binding.ts';
import type { Caller, Execute } from './run.ts';

/** The tools that a run calls: each call is decided first. */
export type GovernedTools = Record<string, (args?: unknown) => unknown>;

export type Agent<Input, Output> = {
  name?: string | undefined;
  tools: Record<string, (args: never) => unknown>;
  run(context: { tools: GovernedTools }, input: Input): Output;
};

export type GovernOptions = BindingOptions & {
  /** Unset: bind if there is a name and a key or a local policy. True: bind or throw. False: never bind. */
  bindPolicy?: boolean | undefined;
};

type Runs<Input, Output> = {
  readonly name: string;
  readonly gate: Gate;
  run(input: Input, caller?: Caller): Promise<Awaited<Output>>;
  runSync(input: Input, caller?: Caller): Output;
};

/**
 * An agent under its policy. `run` refreshes the policy, then runs the agent; its tools return promises. `runSync` does
 * the same blocking the thread; its tools are synchronous, and no events are emitted. It has the agent's own properties,
 * except its tools.
 */
export type GovernedAgent<Input, Output> = Runs<Input, Output> & {
  readonly source: PolicySource;
  readonly isGoverned: true;
};

/** An agent that is not bound, in the same shape: its runs call the agent with its own tools. Nothing is decided. */
export type BareAgent<Input, Output> = Omit<Agent<Input, Output>, 'run' | 'name'> &
  Omit<Runs<Input, Output>, 'name'> & {
    readonly name?: string | undefined;
    readonly source: null;
    readonly isGoverned: false;
  };

export type Govern = {
  <Input, Output>(
    agent: Agent<Input, Output>,
    options: GovernOptions & { bindPolicy: true },
  ): Promise<GovernedAgent<Input, Output>>;
  <Input, Output>(
    agent: Agent<Input, Output>,
    options?: GovernOptions,
  ): Promise<GovernedAgent<Input, Output> | BareAgent<Input, Output>>;
};

export function createGovern(deps: BindingDeps): Govern {
  async function govern<Input, Output>(agent: Agent<Input, Output>, options: GovernOptions = {}) {
    const name = options.agentName ?? agent.name;
    if (!shallBind(name, options)) return bare(agent, name, openGate(options, deps));
    if (!name)
      throw new ValueError('An agent that is bound to a policy needs a name: set agent.name or agentName');
    const toolNames = options.toolNames ?? Object.keys(agent.tools);
    return governed(agent, await bind(name, { ...options, toolNames }, deps));
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
  agent: Agent<Input, Output>,
  binding: Binding,
): GovernedAgent<Input, Output> {
  const toolsOf = (call: CallTool): GovernedTools => {
    const tools = Object.entries(agent.tools).map(([name, tool]) => {
      return [
        name,
        (args?: unknown) => call(name, args, (decided) => Reflect.apply(tool, agent.tools, [decided])),
      ];
    });
    return Object.fromEntries(tools) as GovernedTools;
  };
  const { tools: _, ...own } = agent;
  return {
    ...own,
    name: binding.agentName,
    source: binding.source,
    get gate() {
      return binding.gate;
    },
    isGoverned: true,
    run: async (input, caller): Promise<Awaited<Output>> => {
      const run = await binding.startRun(caller);
      return await agent.run({ tools: toolsOf((...call) => run.call(...call)) }, input);
    },
    runSync: (input, caller) => {
      const run = binding.startRunSync(caller);
      return agent.run({ tools: toolsOf((...call) => run.callSync(...call)) }, input);
    },
  };
}

type CallTool = (tool: string, args: unknown, execute: Execute) => unknown;

function bare<Input, Output>(
  agent: Agent<Input, Output>,
  name: string | undefined,
  currentGate: () => Gate,
): BareAgent<Input, Output> {
  const runSync = (input: Input): Output => agent.run({ tools: agent.tools as GovernedTools }, input);
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
