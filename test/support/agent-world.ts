import { govern, shutdown, type GovernedAgent, type GovernOptions } from '../../client/index.ts';
import type { AdapterOptions } from '../../client/govern/binding.ts';
import { bodiesOf, DECISIONS } from './emission.ts';
import { startPolicyWorld, type PolicyWorld } from './policy-world.ts';

export type Call = [tool: string, args?: unknown];
export type CallResult = { value: unknown } | { error: unknown };

type TestTool = (args: unknown) => unknown;

/** An agent whose input is the calls it makes, one after the other, whatever their results. */
export type TestAgent = {
  name: string;
  tools: Record<string, TestTool>;
  run(context: { tools: Record<string, TestTool> }, calls: Call[]): Promise<CallResult[]>;
};

export type AgentWorld = PolicyWorld & {
  /** Bind the agent to the platform, and open its audit. */
  options: AdapterOptions;
  agent: TestAgent;
  /** The calls that reached a tool. */
  ran: Call[];
  toolNamed: (name: string) => TestTool;
  governed: (more?: GovernOptions) => Promise<GovernedAgent<Call[], Promise<CallResult[]>>>;
  /** Shuts the client down and returns what it sent. */
  events: () => Promise<Record<string, unknown>[]>;
};

/** A platform, and an agent that may be bound to it. */
export async function startAgentWorld(): Promise<AgentWorld> {
  const world = await startPolicyWorld();
  const { mock, key, logger } = world;
  mock.on(DECISIONS, { status: 202 });
  const ran: Call[] = [];
  const toolNamed = (name: string): TestTool => {
    return (args) => {
      ran.push([name, args]);
      return `${name} ran`;
    };
  };
  const tools = { search: toolNamed('search'), write: toolNamed('write'), transfer: toolNamed('transfer') };
  const agent: TestAgent = { name: 'support-bot', tools, run: runCalls };
  const options = { agentName: agent.name, key, apiKey: 'k', baseUrl: mock.url, logger };
  return {
    ...world,
    options,
    agent,
    ran,
    toolNamed,
    governed: (more = {}) => govern(agent, { ...options, ...more, bindPolicy: true }),
    events: async () => {
      await shutdown();
      return bodiesOf(mock, DECISIONS);
    },
    close: async () => {
      await shutdown();
      await mock.close();
    },
  };
}

async function runCalls(
  { tools }: { tools: Record<string, TestTool> },
  calls: Call[],
): Promise<CallResult[]> {
  const results: CallResult[] = [];
  for (const [tool, args] of calls) {
    try {
      results.push({ value: await tools[tool]?.(args) });
    } catch (error) {
      results.push({ error });
    }
  }
  return results;
}
