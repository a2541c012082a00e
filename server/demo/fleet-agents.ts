/** An agent of the demo fleet: its own tools and roles, the usual ones first. The last tool needs a person's approval. */
export type FleetAgent = {
  name: string;
  tools: string[];
  roles: string[];
  /** How busy it is next to the others. */
  share: number;
  denyRate: number;
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
    denyRate: 0.02,
    ...MEDIUM,
    tools: ['search_tickets', 'read_ticket', 'reply_draft', 'tag_ticket', 'refund_order'],
    roles: ['agent', 'lead', ''],
  },
  {
    name: 'checkout-assistant',
    share: 18,
    denyRate: 0.015,
    ...SMALL,
    tools: ['read_cart', 'price_item', 'apply_coupon', 'create_order'],
    roles: ['customer', 'guest'],
  },
  {
    name: 'code-reviewer',
    share: 12,
    denyRate: 0.03,
    ...LARGE,
    tools: ['read_diff', 'comment', 'run_tests', 'approve_merge'],
    roles: ['developer', 'maintainer'],
  },
  {
    name: 'data-analyst',
    share: 10,
    denyRate: 0.05,
    ...LARGE,
    tools: ['list_tables', 'run_query', 'export_csv', 'share_report'],
    roles: ['analyst', 'viewer', ''],
  },
  {
    name: 'invoice-clerk',
    share: 9,
    denyRate: 0.02,
    ...MEDIUM,
    tools: ['read_invoice', 'match_order', 'post_ledger', 'pay_invoice'],
    roles: ['clerk', 'controller'],
  },
  {
    name: 'incident-responder',
    share: 7,
    denyRate: 0.08,
    ...LARGE,
    tools: ['read_logs', 'page_person', 'restart_service', 'scale_down'],
    roles: ['oncall', 'sre'],
  },
  {
    name: 'hr-helpdesk',
    share: 6,
    denyRate: 0.04,
    ...MEDIUM,
    tools: ['search_policy', 'read_balance', 'file_request', 'change_salary'],
    roles: ['employee', 'manager', 'hr'],
  },
  {
    name: 'marketing-writer',
    share: 5,
    denyRate: 0.01,
    ...LARGE,
    tools: ['search_brand', 'draft_post', 'make_image', 'publish_post'],
    roles: ['editor', 'author'],
  },
  {
    name: 'warehouse-planner',
    share: 4,
    denyRate: 0.02,
    ...SMALL,
    tools: ['read_stock', 'forecast', 'reserve_slot', 'order_supply'],
    roles: ['planner', ''],
  },
  {
    name: 'contract-reader',
    share: 3,
    denyRate: 0.06,
    ...LARGE,
    tools: ['read_contract', 'find_clause', 'compare', 'sign_contract'],
    roles: ['legal', 'sales'],
  },
  {
    name: 'security-scanner',
    share: 2,
    denyRate: 0.12,
    ...MEDIUM,
    tools: ['list_hosts', 'scan_host', 'open_finding', 'block_address'],
    roles: ['security', 'auditor'],
  },
  {
    name: 'nightly-cleaner',
    share: 2,
    denyRate: 0.01,
    ...SMALL,
    tools: ['list_files', 'archive_file', 'delete_file'],
    roles: [''],
  },
];

const READING = /^(?:read|search|list|find|compare|forecast|price|run|scan)(?:_|$)/;

/** The tools as an agent registers them, with MCP's annotations: what only reads, and what cannot be taken back. */
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
