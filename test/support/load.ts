import { request, Agent } from 'node:http';
import { decisionEvent } from './events.ts';
import type { RunningService } from './service.ts';

/** One decision that was sent, and what became of it: a status, or the error of the connection. */
export type Sent = {
  event: Record<string, unknown>;
  sentMs: number;
  status: number | undefined;
  error: string | undefined;
};

export type Load = {
  sent: Sent[];
  /** Resolves when no sender sends any more. */
  ended: Promise<void>;
  end: () => void;
};

type LoadOptions = { connections: number; agent: string };

/** Sends decisions of one agent over so many connections, each with one request at a time, until told to end or cut off. */
export function startLoad({ url, key }: RunningService, { connections, agent }: LoadOptions): Load {
  const http = new Agent({ keepAlive: true, maxSockets: connections });
  const sent: Sent[] = [];
  const ending = new AbortController();
  const sender = async () => {
    while (!ending.signal.aborted) {
      const entry = await send(decisionEvent({ agent_name: agent }));
      sent.push(entry);
      if (entry.error !== undefined) return;
    }
  };
  const send = (event: Record<string, unknown>): Promise<Sent> =>
    new Promise((resolve) => {
      const sentMs = performance.now();
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      const req = request(`${url}/v1/audit/decisions`, { method: 'POST', agent: http, headers }, (res) => {
        res.resume().on('end', () => resolve({ event, sentMs, status: res.statusCode, error: undefined }));
        res.on('error', (error) => resolve({ event, sentMs, status: undefined, error: error.message }));
      });
      req.on('error', (error: NodeJS.ErrnoException) =>
        resolve({ event, sentMs, status: undefined, error: error.code ?? error.message }),
      );
      req.end(JSON.stringify(event));
    });
  const ended = Promise.all(Array.from({ length: connections }, sender)).then(() => http.destroy());
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
