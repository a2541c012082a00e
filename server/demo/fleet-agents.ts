import { createTypescriptEngine, type Decision, parsePolicy } from '../../client/policy/language/index.ts';

/** An agent of the demo fleet. Its tools and roles are listed by frequency, the most common first. */
export type FleetAgent = {
  name: string;
  tools: string[];
  roles: string[];
  /** Its traffic relative to the other agents. */
  share: number;
  model: string;
  usdPerMillionTokens: number;
};

const LARGE = { model: 'anthropic-large', usdPerMillionTokens: 3 };
const MEDIUM = { model: 'openai-medium', usdPerMillionTokens: 1.1 };
const SMALL = { model: 'mistral-small', usdPerMillionTokens: 0.2 };

export const FLEET_AGENTS: FleetAgent[] = [
  {
    name: 'support-triage',
    share: 22,
    ...MEDIUM,
    tools: ['search_tickets', 'read_ticket', 'reply_draft', 'tag_ticket', 'refund_order'],
    roles: ['agent', 'lead', ''],
  },
  {
    name: 'checkout-assistant',
    share: 18,
    ...SMALL,
    tools: ['read_cart', 'price_item', 'apply_coupon', 'create_order'],
    roles: ['customer', 'guest'],
  },
  {
    name: 'code-reviewer',
    share: 12,
    ...LARGE,
    tools: ['read_diff', 'comment', 'run_tests', 'approve_merge'],
    roles: ['developer', 'maintainer'],
  },
  {
    name: 'data-analyst',
    share: 10,
    ...LARGE,
    tools: ['list_tables', 'run_query', 'export_csv', 'share_report'],
    roles: ['analyst', 'viewer', ''],
  },
  {
    name: 'invoice-clerk',
    share: 9,
    ...MEDIUM,
    tools: ['read_invoice', 'match_order', 'post_ledger', 'pay_invoice'],
    roles: ['clerk', 'controller'],
  },
  {
    name: 'incident-responder',
    share: 7,
    ...LARGE,
    tools: ['read_logs', 'page_person', 'restart_service', 'scale_down'],
    roles: ['oncall', 'sre'],
  },
  {
    name: 'hr-helpdesk',
    share: 6,
    ...MEDIUM,
    tools: ['search_policy', 'read_balance', 'file_request', 'change_salary'],
    roles: ['employee', 'manager', 'hr'],
  },
  {
    name: 'marketing-writer',
    share: 5,
    ...LARGE,
    tools: ['search_brand', 'draft_post', 'make_image', 'publish_post'],
    roles: ['editor', 'author'],
  },
  {
    name: 'warehouse-planner',
    share: 4,
    ...SMALL,
    tools: ['read_stock', 'forecast', 'reserve_slot', 'order_supply'],
    roles: ['planner', ''],
  },
  {
    name: 'contract-reader',
    share: 3,
    ...LARGE,
    tools: ['read_contract', 'find_clause', 'compare', 'sign_contract'],
    roles: ['legal', 'sales'],
  },
  {
    name: 'security-scanner',
    share: 2,
    ...MEDIUM,
    tools: ['list_hosts', 'scan_host', 'open_finding', 'block_address'],
    roles: ['security', 'auditor'],
  },
  {
    name: 'nightly-cleaner',
    share: 2,
    ...SMALL,
    tools: ['list_files', 'archive_file', 'delete_file'],
    roles: ['scheduler', ''],
  },
];

const READING = /^(?:read|search|list|find|compare|forecast|price|run|scan)(?:_|$)/;

/** The tools with their MCP annotations, as an agent registers them. */
export function manifestOf({ tools }: FleetAgent) {
  return tools.map((name) => {
    const [verb = '', ...rest] = name.split('_');
    return {
      name,
      description: [verb.charAt(0).toUpperCase() + verb.slice(1), ...rest].join(' '),
      annotations: { readOnlyHint: READING.test(name), destructiveHint: name === tools.at(-1) },
    };
  });
}

/** Every role may use all tools but the last. The first role may use that one with approval. */
export function policyOf({ name, tools, roles }: FleetAgent): string {
  const allow = JSON.stringify(tools.slice(0, -1));
  const approve = JSON.stringify(tools.slice(-1));
  const rows = roles.map((role, index) => {
    const grants = index === 0 ? `allow: ${allow}, approve: ${approve}` : `allow: ${allow}`;
    return `  ${JSON.stringify(role)}: {${grants}}`;
  });
  const head = ['version: 1', `agent: ${JSON.stringify(name)}`, `tools: ${JSON.stringify(tools)}`, 'roles:'];
  return [...head, ...rows, 'rules: []', ''].join('\n');
}

/** What the policy decides, by role and tool. */
export function decisionsOf(agent: FleetAgent): Decision[][] {
  const parsed = parsePolicy(policyOf(agent));
  if (!parsed.ok) throw new Error(`The policy of ${agent.name} is invalid`);
  const engine = createTypescriptEngine(parsed.ir);
  return agent.roles.map((role) => agent.tools.map((tool) => engine.decide({ role, tool })));
}
