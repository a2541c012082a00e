import { createHash } from 'node:crypto';
import { fetchAgent, register } from '../../support/agents.ts';
import { sendBatch } from '../../support/batch.ts';
import type { TestService } from '../../support/service.ts';
import { HOUR_MS } from '../../../server/durations.ts';
import { BATCH_EVENTS_MAX } from '../../../server/limits.ts';

type SeedAgent = { name: string; tools: string[]; roles: string[]; denyRate: number };

const AGENTS: SeedAgent[] = [
  {
    name: 'support-triage',
    tools: ['search_tickets', 'read_ticket', 'reply_draft', 'refund_order'],
    roles: ['agent', 'lead', ''],
    denyRate: 0.03,
  },
  {
    name: 'checkout-assistant',
    tools: ['read_cart', 'price_item', 'apply_coupon', 'create_order'],
    roles: ['customer', 'guest'],
    denyRate: 0.02,
  },
  {
    name: 'code-reviewer',
    tools: ['read_diff', 'comment', 'run_tests', 'approve_merge'],
    roles: ['developer', 'maintainer'],
    denyRate: 0.05,
  },
  {
    name: 'data-analyst',
    tools: ['list_tables', 'run_query', 'export_csv'],
    roles: ['analyst', 'viewer', ''],
    denyRate: 0.12,
  },
  {
    name: 'invoice-clerk',
    tools: ['read_invoice', 'match_order', 'pay_invoice'],
    roles: ['clerk', 'controller'],
    denyRate: 0.04,
  },
];
const REASONS = {
  allow: '',
  deny: 'Role may not use this tool.',
  needs_approval: 'Transfers above 1000 need approval.',
};
const DECISIONS = 1200;
const MODEL_CALLS = 150;
const HOURS = 60;
const MODELS = ['model-large', 'model-small', 'model-fast'];

/** Records a small realistic fleet through the API: the same one every time, up to now. */
export async function seedFleet(service: TestService): Promise<void> {
  const nowMs = Date.now();
  const random = draws();
  const events = Array.from({ length: DECISIONS }, (_, index) =>
    decisionAt(index, nowMs - (index / DECISIONS) ** 1.5 * HOURS * HOUR_MS, random),
  );
  const calls = Array.from({ length: MODEL_CALLS }, (_, index) =>
    llmCallAt(index, nowMs - (index / MODEL_CALLS) * HOURS * HOUR_MS, random),
  );
  for (const { name, tools } of AGENTS.slice(0, 4)) {
    await accept(register(service, { name, tools: tools.map(toolFrom) }));
  }
  for (let from = 0; from < events.length; from += BATCH_EVENTS_MAX)
    await accept(sendBatch(service, events.slice(from, from + BATCH_EVENTS_MAX)));
  await accept(sendBatch(service, calls, { path: '/v1/audit/llm-invocations/batch' }));
}

/** Two clients that hold the policies they fetched, so that the fleet view is not empty. A service forgets them when it stops. */
export async function pullPolicies(service: TestService): Promise<void> {
  for (const { name } of AGENTS.slice(0, 4)) {
    const { headers } = await fetchAgent(service, name);
    await fetchAgent(service, name, { headers: { 'If-None-Match': headers.get('ETag') ?? '' } });
  }
}

function toolFrom(name: string) {
  const readOnlyHint = /^(read|search|list|price)_/.test(name);
  return {
    name,
    description: name.replace('_', ' '),
    annotations: { readOnlyHint, destructiveHint: !readOnlyHint },
  };
}

async function accept(answer: Promise<Response>): Promise<void> {
  const response = await answer;
  if (!response.ok) throw new Error(`The seed was refused: ${response.status} ${await response.text()}`);
}

function decisionAt(index: number, atMs: number, random: () => number) {
  const agent = pick(AGENTS, random() ** 1.6);
  const tool = pick(agent.tools, random());
  const last = agent.tools.at(-1) === tool;
  const draw = random();
  const outcome =
    draw < agent.denyRate ? 'deny' : draw < agent.denyRate + (last ? 0.5 : 0.01) ? 'needs_approval' : 'allow';
  return {
    event_id: uuid(`decision ${index}`),
    occurred_at: new Date(atMs).toISOString(),
    agent_name: agent.name,
    tool_name: tool,
    outcome,
    role: pick(agent.roles, random()),
    reason: REASONS[outcome],
    violations:
      outcome === 'allow'
        ? []
        : [outcome === 'deny' ? 'role_not_allowed' : 'transfer-limit: Transfers above 1000 need approval.'],
    hint: outcome === 'deny' ? { code: 'role_not_allowed', allowed_roles: ['admin', 'lead'] } : null,
    arguments: argumentsOf(index, tool, random),
    user_id: `user-${Math.floor(random() ** 3 * 400)}`,
    session_id: `session-${Math.floor(index / 9)}`,
  };
}

function argumentsOf(index: number, tool: string, random: () => number): Record<string, unknown> {
  if (index % 97 === 3)
    return {
      _truncated: true,
      original_bytes: 48_213,
      preview: '{"rows":[{"id":1,"name":"Ada"},{"id":2,"na',
    };
  return {
    query: `${tool.replace('_', ' ')} ${Math.floor(random() * 9000)}`,
    amount: Math.round(random() * 250_000) / 100,
    options: { dry_run: random() < 0.5, limit: 20, api_key: '[REDACTED]' },
    ids: [Math.floor(random() * 1e6), Math.floor(random() * 1e6)],
  };
}

function llmCallAt(index: number, atMs: number, random: () => number) {
  const model = pick(MODELS, random() ** 2);
  const input_tokens = Math.floor(400 + random() * 6000);
  const output_tokens = Math.floor(50 + random() * 900);
  return {
    event_id: uuid(`llm ${index}`),
    occurred_at: new Date(atMs).toISOString(),
    agent_name: pick(AGENTS, random() ** 1.6).name,
    model,
    provider: 'example',
    input_tokens,
    output_tokens,
    cached_input_tokens: Math.floor(input_tokens * random() * 0.6),
    cost_usd: Number((input_tokens * 3e-6 + output_tokens * 15e-6).toFixed(6)),
  };
}

function pick<T>(list: readonly T[], share: number): T {
  const picked = list[Math.min(list.length - 1, Math.floor(share * list.length))];
  if (picked === undefined) throw new Error('Nothing to pick from');
  return picked;
}

function uuid(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The same random numbers every time: xorshift32. */
function draws(): () => number {
  let state = 2_463_534_242;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}
