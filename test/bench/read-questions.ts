import { HOUR_MS } from '../../server/durations.ts';

/** The reads to measure in addition to the windows: the path, and the plain query over the same rows. */
export type Question = { path: string; days: number; where?: string; by?: string };

/** In the form of the query, and as SQL. */
const FILTERS = [
  ['agent=data-analyst', "agent_name = 'data-analyst'"],
  ['not.agent=data-analyst', "agent_name != 'data-analyst'"],
  ['outcome=deny&outcome=needs_approval&role=viewer', "outcome != 'allow' AND role = 'viewer'"],
  ['user_id=user-000001', "user_id = 'user-000001'"],
];

const COLUMNS: Record<string, string> = { agent: 'agent_name', tool: 'tool_name' };

/** From and to a number of hours before the last whole hour, shifted by half an hour, so that no edge is whole. */
function range(hoursBack: number, hours: number): string {
  const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - hoursBack * HOUR_MS + HOUR_MS / 2;
  const [from, to] = [endMs - hours * HOUR_MS, endMs].map((ms) => new Date(ms).toISOString());
  return `from=${from}&to=${to}`;
}

function search(text: string): string {
  return `positionCaseInsensitiveUTF8(reason, '${text}') > 0 OR positionCaseInsensitiveUTF8(arguments, '${text}') > 0`;
}

export const QUESTIONS: Question[] = [
  ...[1, 24, 48, 7 * 24, 30 * 24, 89 * 24].flatMap((hours) => {
    const asked = range(12, hours);
    return ['summary', 'timeseries', 'llm-usage/timeseries'].map((name) => ({
      path: `${name}?${asked}`,
      days: hours / 24,
    }));
  }),
  ...FILTERS.flatMap(([filter = '', where = '']) => [
    { path: `summary?window=90d&${filter}`, days: 90, where },
    { path: `timeseries?window=90d&${filter}`, days: 90, where },
    { path: `breakdown?window=90d&by=tool&${filter}`, days: 90, where, by: 'tool_name' },
  ]),
  ...['agent', 'role', 'tool', 'outcome', 'error_type'].flatMap((by) =>
    [7, 90].map((days) => ({ path: `breakdown?window=${days}d&by=${by}`, days, by: COLUMNS[by] ?? by })),
  ),
  ...['reason', 'user_id', 'session_id'].map((by) => ({
    path: `breakdown?window=7d&by=${by}`,
    days: 7,
    by,
  })),
  ...['model', 'agent', 'user_id', 'session_id'].map((by) => ({
    path: `llm-usage/breakdown?window=7d&by=${by}`,
    days: 7,
    by: COLUMNS[by] ?? by,
  })),
  ...['decisions', 'timeseries'].flatMap((name) =>
    ['customers', 'no-such-text'].map((q) => ({
      path: `${name}?window=7d&q=${q}`,
      days: 7,
      where: search(q),
    })),
  ),
];
