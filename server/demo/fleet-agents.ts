import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { createTypescriptEngine, type Decision, parsePolicy } from '../../client/policy/language/index.ts';

/** An agent of the demo fleet, as defined in fleet-agents.yaml. */
type FleetAgent = {
  name: string;
  /** Its traffic relative to the other agents. */
  share: number;
  model: string;
  usd_per_million_tokens: number;
  roles: string[];
  /** The arguments of its calls, by tool. */
  tools: Record<string, object[]>;
  /** YAML, as in the policy. */
  rules?: string;
};

/** A call that the fleet repeats. Positions count from 1. */
export type FleetCall = {
  agent: number;
  role: number;
  tool: number;
  variant: number;
  role_name: string;
  tool_name: string;
  /** JSON. "{n}" in it is replaced by a varying number. */
  arguments: string;
  decision: Decision;
};

/** How many variants of a call each tool has. A tool with fewer repeats them. */
export const VARIANTS = 4;

const AGENTS = readFileSync(new URL('fleet-agents.yaml', import.meta.url), 'utf8');

export const FLEET_AGENTS = parse(AGENTS) as FleetAgent[];

const READING = /^(?:read|search|list|find|compare|forecast|price|run|scan)(?:_|$)/;

/** The tools with their MCP annotations, as an agent registers them. */
export function manifestOf({ tools }: FleetAgent) {
  const names = Object.keys(tools);
  return names.map((name) => {
    const [verb = '', ...rest] = name.split('_');
    return {
      name,
      description: [verb.charAt(0).toUpperCase() + verb.slice(1), ...rest].join(' '),
      annotations: { readOnlyHint: READING.test(name), destructiveHint: name === names.at(-1) },
    };
  });
}

/** Every role may use all tools except the last, within the rules. The first role may use that one with approval. */
export function policyOf({ name, tools, roles, rules }: FleetAgent): string {
  const names = Object.keys(tools);
  const allow = `allow: [${names.slice(0, -1).join(', ')}]`;
  const rows = roles.map((role, index) => {
    const approve = index === 0 ? `, approve: [${names.at(-1)}]` : '';
    return `  ${JSON.stringify(role)}: {${allow}${approve}}`;
  });
  const head = ['version: 1', `agent: ${name}`, `tools: [${names.join(', ')}]`, 'roles:'];
  const end = rules === undefined ? 'rules: []\n' : `rules:\n${rules.replaceAll(/^(?=.)/gm, '  ')}`;
  return [...head, ...rows, end].join('\n');
}

/** What the agent calls, and what its policy decides. */
export function callsOf(agent: FleetAgent): FleetCall[] {
  const parsed = parsePolicy(policyOf(agent));
  if (!parsed.ok) throw new Error(`The policy of ${agent.name} is invalid: ${JSON.stringify(parsed.errors)}`);
  const engine = createTypescriptEngine(parsed.ir);
  return agent.roles.flatMap((role_name, role) =>
    Object.entries(agent.tools).flatMap(([tool_name, calls], tool) =>
      Array.from({ length: VARIANTS }, (_, variant) => {
        const given = calls[variant % calls.length] as Record<string, unknown>;
        return {
          agent: FLEET_AGENTS.indexOf(agent) + 1,
          role: role + 1,
          tool: tool + 1,
          variant: variant + 1,
          role_name,
          tool_name,
          arguments: JSON.stringify(given),
          decision: engine.decide({ role: role_name, tool: tool_name, arguments: given }),
        };
      }),
    ),
  );
}
