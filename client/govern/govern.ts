import type { Gate } from '../audit/gate.ts';
import { isTruthy, readEnvironment } from '../config.ts';
import type { PolicySource } from '../policy/policy-source.ts';
import { ValueError } from '../errors.ts';
import { bind, type Binding, type BindingOptions, type BindingDeps } from './binding.ts';
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

export type GovernedAgent<Input, Output> = {
  readonly name: string;
  readonly source: PolicySource;
  readonly gate: Gate;
  /** Refreshes the policy, then runs the agent under it. Tools return promises. */
  run(input: Input, caller?: Caller): Promise<Awaited<Output>>;
  /** The same, blocking the thread: tools are synchronous, and no events are emitted. */
  runSync(input: Input, caller?: Caller): Output;
};

export type Govern = {
  <Input, Output>(
    agent: Agent<Input, Output>,
    options: GovernOptions & { bindPolicy: true },
  ): Promise<GovernedAgent<Input, Output>>;
  <Input, Output>(
    agent: Agent<Input, Output>,
    options?: GovernOptions,
  ): Promise<GovernedAgent<Input, Output> | Agent<Input, Output>>;
};

export function createGovern(deps: BindingDeps): Govern {
  async function govern<Input, Output>(agent: Agent<Input, Output>, options: GovernOptions = {}) {
    const name = options.agentName ?? agent.name;
    if (!shallBind(name, options)) return agent;
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
  const hasKey = Boolean(options.key ?? environment.policyKey) && !isTruthy(environment.localMode);
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
  return {
    name: binding.agentName,
    source: binding.source,
    gate: binding.gate,
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
