import { Gates, type GatesDeps } from '../../client/audit/gates.ts';
import { sleep } from '../../client/audit/loop.ts';
import type { ConfigureOptions, DecisionInput } from '../../client/index.ts';
import { captureLogger } from './capture-logger.ts';
import { startMockServer, type MockServer, type Reply, type SeenRequest } from './mock-server.ts';

export const DECISIONS = 'POST /v1/audit/decisions';
export const USAGE = 'POST /v1/audit/llm-invocations';
export const DECISION_BATCH = `${DECISIONS}/batch`;
export const USAGE_BATCH = `${USAGE}/batch`;

/** What `emitLlm` needs, and no more. */
export const usage = { agent_name: 'support-bot', model: 'm-1', input_tokens: 12, output_tokens: 34 };

/** What `emit` needs, and no more. */
export function decision(more: Partial<DecisionInput> = {}): DecisionInput {
  return { agent_name: 'support-bot', tool_name: 'search', outcome: 'allow', ...more };
}

/** Separate gates, so that no test sees those of another; by default, the loop runs. */
export function gatesWith(deps: Partial<GatesDeps> = {}): Gates {
  const loop = { identity: () => 'one', isRunning: () => true };
  return new Gates({ now: Date.now, sleep, createLoop: () => loop, ...deps });
}

/** A gate to this service, by default one POST per event. */
export function openGate(mock: MockServer, options: ConfigureOptions = {}, deps: Partial<GatesDeps> = {}) {
  const gates = gatesWith(deps);
  const logger = captureLogger();
  const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, logger, ...options });
  return { gates, logger, gate };
}

/** A service that accepts every event. */
export async function startAuditServer(): Promise<MockServer> {
  const mock = await startMockServer();
  mock.on(DECISIONS, { status: 202, json: { event_id: 'x' } });
  mock.on(USAGE, { status: 202, json: { event_id: 'x' } });
  mock.on(DECISION_BATCH, acceptAll);
  mock.on(USAGE_BATCH, acceptAll);
  return mock;
}

/** The answer to a batch of which every event is stored. */
export function acceptAll({ text }: SeenRequest): Reply {
  return { status: 202, json: { accepted: text.split('\n').length, duplicates: 0, rejected: [] } };
}

/** The events of each batch that arrived. */
export function batchesOf(mock: MockServer, route: string): Record<string, unknown>[][] {
  return mock
    .seen(route)
    .map(({ text }) => text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>));
}

/** How many events each batch that arrived has. */
export function batchSizes(mock: MockServer, route: string): number[] {
  return batchesOf(mock, route).map(({ length }) => length);
}

export function bodiesOf(mock: MockServer, route: string): Record<string, unknown>[] {
  return mock.seen(route).map(({ text }) => JSON.parse(text) as Record<string, unknown>);
}
