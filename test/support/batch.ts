import type { RunningService } from './service.ts';

export type Rejection = {
  index: number;
  event_id: string | null;
  status: number;
  code: string;
  detail: string;
  errors?: object[];
};
export type BatchAnswer = { accepted: number; duplicates: number; rejected: Rejection[] };

/** The fields that a program may rely on. The texts may change. */
export function withoutDetail({ index, event_id, status, code }: Rejection) {
  return { index, event_id, status, code };
}

type BatchOptions = {
  path?: '/v1/audit/decisions/batch' | '/v1/audit/llm-invocations/batch';
  type?: string;
  key?: string;
  headers?: Record<string, string>;
};

/** Events as JSON lines. A text stays unchanged. */
export function linesOf(events: unknown[]): string {
  return events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event))).join('\n');
}

/** Sends a batch: a list of events as JSON lines, and a text or bytes unchanged. */
export function sendBatch(
  service: Pick<RunningService, 'url' | 'key'>,
  body: unknown[] | string | Buffer,
  { path = '/v1/audit/decisions/batch', type = 'application/x-ndjson', key, headers }: BatchOptions = {},
): Promise<Response> {
  return fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key ?? service.key}`, 'Content-Type': type, ...headers },
    body: new Uint8Array(Buffer.from(Array.isArray(body) ? linesOf(body) : body)),
  });
}

/** Status and body of an answer. */
export async function batchOutcome(
  response: Response | Promise<Response>,
): Promise<BatchAnswer & { status: number; code?: string }> {
  const answered = await response;
  return { ...((await answered.json()) as BatchAnswer), status: answered.status };
}
