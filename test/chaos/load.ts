import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { decisionEvent } from '../support/events.ts';

export const AGENT = 'chaos';

/** The answers that callers got, and the ids that they may rely on. */
export type Account = {
  acknowledged: Set<string>;
  /** Each id with every content that was sent under it. */
  tried: Map<string, Set<string>>;
  statuses: Record<string, number>;
  slowestMs: number;
};

/** The fields of an event that its row must have. */
const CONTENT = ['occurred_at', 'outcome', 'reason', 'tool_name', 'role', 'user_id', 'session_id'] as const;

/** The content of an event, or of a row that has the same fields, as a text to compare. */
export function contentOf(fields: Record<string, unknown>): string {
  return JSON.stringify(CONTENT.map((name) => fields[name]));
}

type LoadOptions = {
  senders: number;
  key: string;
  /** A number from 0 to below 1. */
  random: () => number;
  /** Where requests currently go; services stop and return. */
  url: () => string | undefined;
};

export type ChaosLoad = { account: Account; end: () => Promise<void> };

/**
 * Callers that never give up: each sends an event until it is acknowledged, switching between services, at times with another body. A
 * second attempt must find the row of an attempt with an unknown outcome.
 */
export function startLoad({ senders, key, random, url }: LoadOptions): ChaosLoad {
  const account: Account = { acknowledged: new Set(), tried: new Map(), statuses: {}, slowestMs: 0 };
  const agent = new Agent({ keepAlive: true });
  const ending = new AbortController();
  const sender = async () => {
    while (!ending.signal.aborted) {
      const event_id = randomUUID();
      let event = decisionEvent({ event_id, agent_name: AGENT });
      const contents = new Set<string>();
      account.tried.set(event_id, contents);
      // To the end, even after the load ends: half-tried events would prove nothing.
      for (let tries = 1; ; tries += 1) {
        contents.add(contentOf(event));
        const status = await timed(event);
        account.statuses[status] = (account.statuses[status] ?? 0) + 1;
        if (status === '202') account.acknowledged.add(event_id);
        if (status === '202' || (ending.signal.aborted && tries > 50)) break;
        if (random() < 0.3) event = { ...event, outcome: 'deny', reason: `try ${tries}` };
        await sleep(20 + random() * 100);
      }
    }
  };
  const timed = async (event: Record<string, unknown>) => {
    const startMs = performance.now();
    const status = await send(event);
    account.slowestMs = Math.max(account.slowestMs, performance.now() - startMs);
    return status;
  };
  const send = (event: Record<string, unknown>): Promise<string> => {
    const to = url();
    if (to === undefined) return Promise.resolve('nobody there');
    return new Promise((resolve) => {
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      const options = { method: 'POST', agent, headers, timeout: 20_000 };
      const req = request(`${to}/v1/audit/decisions`, options, (res) => {
        res.resume().on('end', () => resolve(String(res.statusCode)));
        res.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'broken'));
      });
      req.on('timeout', () => req.destroy(new Error('hang')));
      req.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      req.end(JSON.stringify(event));
    });
  };
  const running = Promise.all(Array.from({ length: senders }, sender));
  const end = async () => {
    ending.abort();
    await running;
    agent.destroy();
  };
  return { account, end };
}
