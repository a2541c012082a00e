import { type DecisionRecord, readDecisions, readSummary, type Summary, timeFromNow } from './audit.ts';
import { ask, askJson, type Bucket, type Timeseries } from './reads.ts';
import type { RunningService } from './service.ts';
import { DAY_MS } from '../../server/durations.ts';

export type Everything = Omit<Summary, 'project_id' | 'window' | 'from' | 'to'> & {
  total: number;
  items: DecisionRecord[];
  /** The non-empty buckets of the timeseries. */
  buckets: Bucket[];
  /** The records of the export. */
  exported: unknown[];
  usage: Usage;
};
export type Usage = { totals: unknown; by_model: unknown; by_agent: unknown };

/** The complete answers of the read endpoints for a project with at most 500 records, without the time of the request. */
export async function everythingOf(service: RunningService, projectId: string): Promise<Everything> {
  const { totals, by_agent, by_role, by_tool, others } = await readSummary(
    service,
    { window: '90d' },
    projectId,
  );
  const { total, items } = await readDecisions(service, { window: '90d', limit: '500' }, projectId);
  const options = { projectId, query: { window: '90d' } };
  const { buckets } = await askJson<Timeseries>(service, 'timeseries', options);
  const { text } = await ask(service, 'decisions/export', options);
  return {
    totals,
    by_agent,
    by_role,
    by_tool,
    others,
    total,
    items,
    buckets: buckets.filter((bucket) => bucket.total > 0),
    exported: text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown),
    usage: await usageOf(service, projectId),
  };
}

export async function usageOf(service: RunningService, projectId: string): Promise<Usage> {
  const query = { window: '90d' };
  const { totals, by_model, by_agent } = await askJson<Usage>(service, 'llm-usage', { projectId, query });
  return { totals, by_model, by_agent };
}

/** The same event_id with everything else different: all of it valid, none of it to be stored. */
export function otherVersionsOf(event: Record<string, unknown>): Record<string, unknown>[] {
  return [
    { outcome: 'deny', error_type: 'policy_denied' },
    { agent_name: 'another' },
    { role: 'another' },
    { tool_name: 'another', arguments: { other: 1 }, hint: {}, reason: 'another', violations: ['x'] },
    { occurred_at: timeFromNow(-3 * DAY_MS) },
    { occurred_at: timeFromNow(60_000) },
    { outcome: 'needs_approval', agent_name: 'b', role: '', occurred_at: timeFromNow(-80 * DAY_MS) },
  ].map((other) => ({ ...event, ...other }));
}
