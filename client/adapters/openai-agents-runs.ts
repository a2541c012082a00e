import type { PolicyRun } from '../govern/run.ts';

/** The `context` that was passed to `run`. Several runs may share one. */
export type RunContext = { context: unknown };

/** The part of an agent that reports its runs. */
export type Agent = {
  on(event: 'agent_start', listener: (runContext: RunContext) => void): unknown;
  on(event: 'agent_handoff', listener: (runContext: RunContext, next: Agent) => void): unknown;
  on(
    event: 'agent_tool_start',
    listener: (runContext: RunContext, tool: unknown, call: Call) => void,
  ): unknown;
};
type Call = { toolCall: object };
type Run = Promise<PolicyRun>;

/**
 * Finds the run that an agent or a tool call of the OpenAI Agents SDK belongs to. Tools see no object that represents a run, so a run is
 * identified by its `RunContext` and its agent. The events of the agent show where it begins.
 */
export function agentRuns(start: (runContext: RunContext) => Run) {
  /** By agents and by tool calls; by the context itself for calls that no agent reports. */
  const known = new WeakMap<RunContext, WeakMap<object, Run>>();
  const handoffs = new WeakMap<RunContext, { next: Agent; run: Run | undefined }>();
  const followed = new WeakSet<Agent>();

  const runsWith = (runContext: RunContext): WeakMap<object, Run> => {
    const runs = known.get(runContext) ?? new WeakMap<object, Run>();
    known.set(runContext, runs);
    return runs;
  };

  const assign = (runContext: RunContext, key: object, run: Run | undefined): void => {
    if (run) runsWith(runContext).set(key, run);
    else runsWith(runContext).delete(key);
  };

  const begin = (runContext: RunContext, key: object): Run => {
    const run = start(runContext);
    const assignAll = (to?: Run): void => [key, runContext].forEach((one) => assign(runContext, one, to));
    assignAll(run);
    run.catch(() => assignAll());
    return run;
  };

  const follow = (agent: Agent): void => {
    if (followed.has(agent)) return;
    followed.add(agent);
    agent.on('agent_start', (runContext) => {
      const handoff = handoffs.get(runContext);
      handoffs.delete(runContext);
      assign(runContext, agent, handoff?.next === agent ? handoff.run : undefined);
    });
    agent.on('agent_handoff', (runContext, next) => {
      follow(next);
      handoffs.set(runContext, { next, run: runsWith(runContext).get(agent) });
    });
    agent.on('agent_tool_start', (runContext, _, { toolCall }) =>
      assign(runContext, toolCall, runsWith(runContext).get(agent)),
    );
  };

  return {
    ofAgent(runContext: RunContext, agent: Agent): Run {
      follow(agent);
      return runsWith(runContext).get(agent) ?? begin(runContext, agent);
    },
    ofCall(runContext: RunContext, toolCall: object = runContext): Run {
      const runs = runsWith(runContext);
      return runs.get(toolCall) ?? runs.get(runContext) ?? begin(runContext, runContext);
    },
  };
}
