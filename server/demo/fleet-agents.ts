import { readFileSync } from 'node:fs';
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

const TABLE = readFileSync(new URL('fleet-agents.csv', import.meta.url), 'utf8');

export const FLEET_AGENTS: FleetAgent[] = TABLE.trim().split('\n').slice(1).map(agentFrom);

/** Lists are separated by spaces; "-" is the empty role. */
function agentFrom(line: string): FleetAgent {
  const [name = '', share, model = '', usd, tools = '', roles = ''] = line.split(',');
  return {
    name,
    share: Number(share),
    model,
    usdPerMillionTokens: Number(usd),
    tools: tools.split(' '),
    roles: roles.split(' ').map((role) => (role === '-' ? '' : role)),
  };
}

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
  const allow = `allow: [${tools.slice(0, -1).join(', ')}]`;
  const rows = roles.map((role, index) => {
    const approve = index === 0 ? `, approve: [${tools.at(-1)}]` : '';
    return `  ${JSON.stringify(role)}: {${allow}${approve}}`;
  });
  const head = ['version: 1', `agent: ${name}`, `tools: [${tools.join(', ')}]`, 'roles:'];
  return [...head, ...rows, 'rules: []', ''].join('\n');
}

/** The decisions of the policy, by role and tool. */
export function decisionsOf(agent: FleetAgent): Decision[][] {
  const parsed = parsePolicy(policyOf(agent));
  if (!parsed.ok) throw new Error(`The policy of ${agent.name} is invalid`);
  const engine = createTypescriptEngine(parsed.ir);
  return agent.roles.map((role) => agent.tools.map((tool) => engine.decide({ role, tool })));
}
