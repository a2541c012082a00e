import { call } from './accounts.ts';
import { askJson } from './reads.ts';
import type { RunningService } from './service.ts';

/** A stored decision as an API response. */
export type DecisionRecord = Record<string, unknown> & {
  event_id: string;
  occurred_at: string;
  received_at: string;
  agent_version_id: string;
};
export type Page = {
  project_id: string;
  window: string | null;
  total: number;
  limit: number;
  offset: number;
  items: DecisionRecord[];
};
export type Counts = { total: number; allow: number; deny: number; needs_approval: number };
export type Summary = {
  project_id: string;
  window: string | null;
  from: string;
  to: string;
  totals: Counts;
  by_agent: ({ agent_name: string } & Counts)[];
  by_role: ({ role: string } & Counts)[];
  by_tool: ({ tool_name: string } & Counts)[];
  others: Record<'by_agent' | 'by_role' | 'by_tool', (Counts & { entries: number }) | null>;
};

/** The sums for no model calls. */
export const NO_USAGE = {
  calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: 0,
};

type SendOptions = { key?: string; headers?: Record<string, string> };

export function sendDecision(
  service: RunningService,
  body: unknown,
  options: SendOptions = {},
): Promise<Response> {
  return call(service, '/v1/audit/decisions', { key: service.key, body, ...options });
}

export function sendLlm(
  service: RunningService,
  body: unknown,
  options: SendOptions = {},
): Promise<Response> {
  return call(service, '/v1/audit/llm-invocations', { key: service.key, body, ...options });
}

/** Status and code of an answer. */
export async function outcomeOf(response: Response): Promise<{ status: number; code: string | undefined }> {
  const body = (await response.json()) as { code?: string };
  return { status: response.status, code: body.code };
}

/** Counts each outcome, so that a difference among hundreds stays readable. */
export function tally(outcomes: { status: number; code?: string | undefined }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, code } of outcomes) {
    const name = code === undefined ? String(status) : `${status} ${code}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

export const accepted = { status: 202, code: undefined };
export const invalid = { status: 422, code: 'body_invalid' };

export function readDecisions(
  service: RunningService,
  query: Query = {},
  projectId = service.project_id,
): Promise<Page> {
  return askJson<Page>(service, 'decisions', { query, projectId });
}

export function readSummary(
  service: RunningService,
  query: Query = {},
  projectId = service.project_id,
): Promise<Summary> {
  return askJson<Summary>(service, 'summary', { query, projectId });
}

/** Every record of one agent, page by page. */
export async function readAllDecisions(
  service: RunningService,
  agent: string,
  projectId = service.project_id,
): Promise<DecisionRecord[]> {
  const items: DecisionRecord[] = [];
  for (;;) {
    const query = { agent, window: '90d', limit: '500', offset: String(items.length) };
    const page = await readDecisions(service, query, projectId);
    items.push(...page.items);
    if (items.length >= page.total || page.items.length === 0) return items;
  }
}

type Query = Record<string, string>;

export function timeFromNow(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}
