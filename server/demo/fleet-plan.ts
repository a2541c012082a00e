/** An agent of the demo fleet: its own tools and roles, the usual ones first. The last tool needs a person's approval. */
export type FleetAgent = { name: string; tools: string[]; roles: string[]; share: number; denyRate: number };

/** A spell in which one agent is denied far more than usual; seconds of its day. */
export type Incident = { day: string; agent: number; fromSecond: number; toSecond: number; rate: number };

export type FleetDay = { day: string; rows: number; incidents: Incident[] };
export type FleetPlan = { agents: FleetAgent[]; hourShares: number[]; users: number; days: FleetDay[] };

const AGENTS: FleetAgent[] = [
  agent(
    'support-triage',
    22,
    0.02,
    ['search_tickets', 'read_ticket', 'reply_draft', 'tag_ticket', 'refund_order'],
    ['agent', 'lead', ''],
  ),
  agent(
    'checkout-assistant',
    18,
    0.015,
    ['read_cart', 'price_item', 'apply_coupon', 'create_order'],
    ['customer', 'guest'],
  ),
  agent(
    'code-reviewer',
    12,
    0.03,
    ['read_diff', 'comment', 'run_tests', 'approve_merge'],
    ['developer', 'maintainer'],
  ),
  agent(
    'data-analyst',
    10,
    0.05,
    ['list_tables', 'run_query', 'export_csv', 'share_report'],
    ['analyst', 'viewer', ''],
  ),
  agent(
    'invoice-clerk',
    9,
    0.02,
    ['read_invoice', 'match_order', 'post_ledger', 'pay_invoice'],
    ['clerk', 'controller'],
  ),
  agent(
    'incident-responder',
    7,
    0.08,
    ['read_logs', 'page_person', 'restart_service', 'scale_down'],
    ['oncall', 'sre'],
  ),
  agent(
    'hr-helpdesk',
    6,
    0.04,
    ['search_policy', 'read_balance', 'file_request', 'change_salary'],
    ['employee', 'manager', 'hr'],
  ),
  agent(
    'marketing-writer',
    5,
    0.01,
    ['search_brand', 'draft_post', 'make_image', 'publish_post'],
    ['editor', 'author'],
  ),
  agent(
    'warehouse-planner',
    4,
    0.02,
    ['read_stock', 'forecast', 'reserve_slot', 'order_supply'],
    ['planner', ''],
  ),
  agent(
    'contract-reader',
    3,
    0.06,
    ['read_contract', 'find_clause', 'compare', 'sign_contract'],
    ['legal', 'sales'],
  ),
  agent(
    'security-scanner',
    2,
    0.12,
    ['list_hosts', 'scan_host', 'open_finding', 'block_address'],
    ['security', 'auditor'],
  ),
  agent('nightly-cleaner', 2, 0.01, ['list_files', 'archive_file', 'delete_file'], ['']),
];

/** Busy office hours in Europe and America, quiet nights (UTC). */
const HOUR_WEIGHTS = [3, 2, 2, 2, 2, 3, 5, 8, 11, 13, 14, 14, 13, 14, 15, 15, 14, 13, 12, 10, 8, 6, 5, 4];
/** Sunday first. */
const WEEKDAY_WEIGHTS = [0.35, 1.05, 1.1, 1.1, 1.05, 0.95, 0.4];
const USERS = 20_000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** About one day in ten has a spell of denials. */
const INCIDENT_EVERY_DAYS = 10;

function agent(name: string, share: number, denyRate: number, tools: string[], roles: string[]): FleetAgent {
  return { name, tools, roles, share, denyRate };
}

type FleetSize = { rows: number; days: number; seed: number; nowMs: number };

/** Shares `rows` out over the last `days` days: weekends are quiet, traffic grows a little, incidents are random. */
export function fleetPlan({ rows, days, seed, nowMs }: FleetSize): FleetPlan {
  const random = mulberry32(seed);
  const lastDayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const dayMs = Array.from({ length: days }, (_, index) => lastDayMs - (days - 1 - index) * DAY_MS);
  const hourShares = cumulative(HOUR_WEIGHTS);
  const weights = dayMs.map((ms, index) => {
    const weekday = WEEKDAY_WEIGHTS[new Date(ms).getUTCDay()] ?? 1;
    const elapsed = ms === lastDayMs ? shareUntil(hourShares, nowMs - lastDayMs) : 1;
    return { whole: weekday * (1 + index / days / 2) * (0.9 + 0.2 * random()), elapsed };
  });
  const sum = weights.reduce((total, { whole, elapsed }) => total + whole * elapsed, 0);
  return {
    agents: AGENTS,
    hourShares,
    users: USERS,
    days: dayMs.map((ms, index) => {
      const day = new Date(ms).toISOString().slice(0, 10);
      // Today's rows are drawn for the whole day; those still to come are left out by the query.
      return {
        day,
        rows: Math.round((rows * (weights[index]?.whole ?? 0)) / sum),
        incidents: incidentsOf(day, random),
      };
    }),
  };
}

function incidentsOf(day: string, random: () => number): Incident[] {
  if (random() >= 1 / INCIDENT_EVERY_DAYS) return [];
  const fromSecond = Math.floor(random() * 20 * 3600);
  const lasts = 900 + Math.floor(random() * 3 * 3600);
  const index = 1 + Math.floor(random() * AGENTS.length);
  return [{ day, agent: index, fromSecond, toSecond: fromSecond + lasts, rate: 0.4 + 0.5 * random() }];
}

/** The share of a day's rows that have occurred `elapsedMs` after midnight. */
function shareUntil(hourShares: number[], elapsedMs: number): number {
  const hours = elapsedMs / (60 * 60 * 1000);
  const whole = Math.floor(hours);
  const before = whole === 0 ? 0 : (hourShares[whole - 1] ?? 1);
  return before + ((hourShares[whole] ?? 1) - before) * (hours - whole);
}

/** Running shares of the whole, the last of them a little over 1 so that every draw finds its place. */
export function cumulative(weights: number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  let running = 0;
  const shares = weights.map((weight) => (running += weight / sum));
  return shares.with(-1, 1.000001);
}

/** A small seeded generator (mulberry32, Tommy Ettinger 2017): the same seed makes the same fleet. */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
