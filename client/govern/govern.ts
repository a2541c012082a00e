import type { Gate } from '../audit/gate.ts';
import { isTruthy, readEnvironment } from '../config.ts';
import type { PolicySource } from '../policy/policy-source.ts';
import { ValueError } from '../errors.ts';
import { bind, type Binding, type BindingOptions, type BindingDeps } from './binding.ts';
import type { Caller, Execute } from './run.ts';

/** A tool as a run sees it: decided before it is called. */
export type GovernedTools = Record<string, (args?: unknown) => unknown>;

export type Agent<Input, Output> = {
  name?: string | undefined;
  tools: Record<string, (args: never) => unknown>;
  run(context: { tools: GovernedTools }, input: Input): Output;
};

export type GovernOptions = BindingOptions & {
  /** Unset binds when there is something to bind to; true binds or throws; false never binds. */
  bindPolicy?: boolean | undefined;
};

export type GovernedAgent<Input, Output> = {
  readonly name: string;
  readonly source: PolicySource;
  readonly gate: Gate;
  /** Refreshes the policy, then runs the agent under it; every tool call is decided first and returns a promise. */
  run(input: Input, caller?: Caller): Promise<Awaited<Output>>;
  /** The same, blocking: tools are synchronous and nothing is emitted. */
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

/** Makes `govern` over one emitter and one way to resolve policies. */
export function createGovern(deps: BindingDeps): Govern {
  async function govern<Input, Output>(agent: Agent<Input, Output>, options: GovernOptions = {}) {
    const name = options.agentName ?? agent.name;
    if (!shallBind(name, options)) return agent;
    if (!name) throw new ValueError('An agent that is bound to a policy needs a name');
    const toolNames = options.toolNames ?? Object.keys(agent.tools);
    return governed(agent, await bind(name, { ...options, toolNames }, deps));
  }
  return govern as Govern;
}

/** Spec 4.11, the table of bind_policy; `policy` in code is an override like a file. */
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
