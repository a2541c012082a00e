import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, logIn } from '../accounts.ts';
import { fetchAgent, register } from '../agents.ts';
import { sendDecision } from '../audit.ts';
import { sendBatch } from '../batch.ts';
import { decisionEvent } from '../events.ts';
import type { RunningService } from '../service.ts';

/** The service answers 503 within 5 s. The rest is a margin for a machine that also runs the tests. */
const ANSWER_MS_MAX = 6000;
export const RECOVERY_MS_MAX = 5000;

/** One request, its answer, and how long it took. */
export type Probe = {
  status: number;
  code: string | undefined;
  retryAfter: string | null;
  ms: number;
  body: string;
};
export type WriteProbe = Probe & { event: Record<string, unknown> };

export async function probe(ask: () => Promise<Response>): Promise<Probe> {
  const startMs = performance.now();
  const response = await ask();
  const body = await response.text();
  const code = /"code":"(\w+)"/.exec(body)?.[1];
  const ms = performance.now() - startMs;
  return { status: response.status, code, retryAfter: response.headers.get('Retry-After'), ms, body };
}

export async function write(service: RunningService, event: Record<string, unknown>): Promise<WriteProbe> {
  return { event, ...(await probe(() => sendDecision(service, event))) };
}

/** This many decisions of an agent at once: a quarter of them as one batch, the others separately. */
export async function writeMany(
  service: RunningService,
  agent_name: string,
  count: number,
): Promise<WriteProbe[]> {
  const events = Array.from({ length: count }, () => decisionEvent({ agent_name }));
  const inBatch = Math.floor(count / 4);
  const [batch, ...alone] = await Promise.all([
    probe(() => sendBatch(service, events.slice(0, inBatch))),
    ...events.slice(inBatch).map((event) => write(service, event)),
  ]);
  return [...events.slice(0, inBatch).map((event) => ({ ...batch, event })), ...alone];
}

/** One of each kind of request that uses the store, except the writes. */
export function readAll(service: RunningService): Promise<Probe[]> {
  const audit = `/v1/projects/${service.project_id}/audit`;
  return Promise.all([
    probe(() => call(service, `${audit}/summary`)),
    probe(() => call(service, `${audit}/decisions`)),
    probe(() => fetchAgent(service, 'demo-agent')),
    probe(() => register(service, { name: `agent-${Date.now()}`, tools: ['search'] })),
    probe(() => logIn(service, 'nobody@example.com', 'a wrong password')),
    probe(() => call(service, '/readyz')),
  ]);
}

/** Every answer arrived in time, is a good one or a 503 with Retry-After: 5, and none is a 500. */
export function expectAnswered(probes: Probe[]): void {
  const wrong = probes.filter(({ status, retryAfter, ms }) => {
    const isFine = status < 500 || (status === 503 && retryAfter === '5');
    return !isFine || ms > ANSWER_MS_MAX;
  });
  expect(wrong).to.deep.equal([]);
}

/** Resolves with the time until a write is accepted again, without a restart of the service. */
export async function recovery(service: RunningService, agent_name: string): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    const { status } = await write(service, decisionEvent({ agent_name }));
    const ms = performance.now() - startMs;
    if (status === 202) return ms;
    if (ms > 4 * RECOVERY_MS_MAX) throw new Error(`No write was accepted for ${Math.round(ms)} ms`);
    await sleep(100);
  }
}
