import {
  DAY_MS,
  type DecisionRecord,
  readDecisions,
  readSummary,
  type Summary,
  timeFromNow,
} from './audit.ts';
import type { TestService } from './service.ts';

export type Everything = Omit<Summary, 'project_id' | 'window' | 'from' | 'to'> & {
  total: number;
  items: DecisionRecord[];
};

/** All that the read endpoints say of a project with at most 500 records, without the time of asking. */
export async function everythingOf(service: TestService, projectId: string): Promise<Everything> {
  const { totals, by_agent, by_role, by_tool } = await readSummary(service, { window: '90d' }, projectId);
  const { total, items } = await readDecisions(service, { window: '90d', limit: '500' }, projectId);
  return { totals, by_agent, by_role, by_tool, total, items };
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
