import { request, Agent } from 'node:http';
import { decisionEvent } from './events.ts';
import type { RunningService } from './service.ts';

/** One decision that was sent, and its outcome: a status, or the error of the connection. */
export type Sent = {
  event: Record<string, unknown>;
  isBatched: boolean;
  sentMs: number;
  status: number | undefined;
  error: string | undefined;
};

export type Load = {
  sent: Sent[];
  /** Resolves when all senders have stopped. */
  ended: Promise<void>;
  end: () => void;
};

/** `batches`: one in `every` connections sends batches. Each of their events counts as sent. */
type LoadOptions = { connections: number; agent: string; batches?: { every: number; events: number } };

/** Sends decisions of one agent over this many connections, each with one request at a time, until told to end or cut off. */
export function startLoad(
  { url, key }: RunningService,
  { connections, agent, batches = { every: Number.POSITIVE_INFINITY, events: 1 } }: LoadOptions,
): Load {
  const http = new Agent({ keepAlive: true, maxSockets: connections });
  const sent: Sent[] = [];
  const ending = new AbortController();
  const sender = async (number: number) => {
    const size = (number + 1) % batches.every === 0 ? batches.events : undefined;
    while (!ending.signal.aborted) {
      const events = Array.from({ length: size ?? 1 }, () => decisionEvent({ agent_name: agent }));
      const result = await send(size === undefined ? '' : '/batch', events);
      sent.push(...events.map((event) => ({ ...result, event, isBatched: size !== undefined })));
      if (result.error !== undefined) return;
    }
  };
  const send = (path: string, events: object[]): Promise<Omit<Sent, 'event' | 'isBatched'>> =>
    new Promise((resolve) => {
      const sentMs = performance.now();
      const type = path === '' ? 'application/json' : 'application/x-ndjson';
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': type };
      const options = { method: 'POST', agent: http, headers };
      const req = request(`${url}/v1/audit/decisions${path}`, options, (res) => {
        res.resume().on('end', () => resolve({ sentMs, status: res.statusCode, error: undefined }));
        res.on('error', (error) => resolve({ sentMs, status: undefined, error: error.message }));
      });
      req.on('error', (error: NodeJS.ErrnoException) =>
        resolve({ sentMs, status: undefined, error: error.code ?? error.message }),
      );
      req.end(events.map((event) => JSON.stringify(event)).join('\n'));
    });
  const ended = Promise.all(Array.from({ length: connections }, (_, i) => sender(i))).then(() =>
    http.destroy(),
  );
  return { sent, ended, end: () => ending.abort() };
}

/** The ids that were acknowledged. */
export function acknowledged(sent: Sent[]): string[] {
  return sent.filter(({ status }) => status === 202).map(({ event }) => String(event['event_id']));
}

/** A stored record without what the server adds: what was sent. */
export function contentOf(record: Record<string, unknown>): Record<string, unknown> {
  const { project_id: _, agent_version_id: __, received_at: ___, ...content } = record;
  return content;
}

/** Those whose connection broke before an answer. */
export function cutOff(sent: Sent[]): Sent[] {
  return sent.filter(({ error }) => error !== undefined);
}
