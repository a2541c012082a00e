import type { RunningService } from './service.ts';

export type ReadAnswer = { status: number; headers: Headers; text: string };
export type Problem = {
  status: number;
  code: string;
  detail: string;
  errors?: { path: string; message: string }[];
};
export type Bucket = { start: string; total: number; allow: number; deny: number; needs_approval: number };
export type Timeseries = {
  project_id: string;
  window: string | null;
  from: string;
  to: string;
  bucket_seconds: number;
  buckets: Bucket[];
};
export type CursorPage = {
  total: number;
  limit: number;
  offset: number;
  next_cursor: string | null;
  items: Record<string, unknown>[];
};

type Ask = { query?: Record<string, string> | string; projectId?: string; key?: string };

/** GETs one of the read endpoints; a `query` given as text is sent unchanged. */
export async function ask(
  service: RunningService,
  endpoint: string,
  { query = {}, projectId = service.project_id, key }: Ask = {},
): Promise<ReadAnswer> {
  const search = typeof query === 'string' ? query : new URLSearchParams(query).toString();
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const path = `/v1/projects/${encodeURIComponent(projectId)}/audit/${endpoint}`;
  const response = await fetch(`${service.url}${path}?${search}`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The status and the code of a refusal. */
export async function refusal(
  service: RunningService,
  endpoint: string,
  options: Ask = {},
): Promise<[number, string]> {
  const { status, text } = await ask(service, endpoint, options);
  return [status, (JSON.parse(text) as Problem).code];
}

/** Like `ask`, but the answer must be good. */
export async function askJson<T>(service: RunningService, endpoint: string, options: Ask = {}): Promise<T> {
  const { status, text } = await ask(service, endpoint, options);
  if (status !== 200) throw new Error(`${endpoint} answered ${status}: ${text}`);
  return JSON.parse(text) as T;
}
