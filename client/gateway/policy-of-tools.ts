import { engineFromYaml } from '../policy/engine.ts';
import { loadParser } from '../policy/load-parser.ts';
import type { ListedTool } from './server-tools.ts';

type Kind = 'read-only' | 'additive' | 'destructive';

/**
 * A policy in YAML for the tools of an MCP server, based on their annotations: read-only tools run, the others need an approval, and
 * destructive ones need it for admins as well. A tool without annotations counts as destructive, as in MCP. Throws if the names of the
 * tools cannot be in a policy.
 */
export async function policyOfTools(agentName: string, tools: readonly ListedTool[]): Promise<string> {
  const kinds = new Map(tools.map((tool) => [tool.name, kindOf(tool)]));
  const names = (...wanted: Kind[]): string => {
    const of = [...kinds].filter(([, kind]) => wanted.includes(kind));
    return `[${of.map(([name]) => JSON.stringify(name)).join(', ')}]`;
  };
  const policy = [
    '# Made from what an MCP server says of its tools. Check each line: the annotations are the claims of the server.',
    'version: 1',
    `agent: ${JSON.stringify(agentName)}`,
    kinds.size > 0 ? 'tools: # every other tool is denied' : 'tools: [] # every tool is denied',
    ...[...kinds].map(([name, kind]) => `  - ${JSON.stringify(name)} # ${kind}`),
    'roles:',
    '  admin:',
    "    allow: ['*']",
    `    approve: ${names('destructive')}`,
    "  '*': # every other role, and calls without a role",
    `    allow: ${names('read-only')}`,
    `    approve: ${names('additive', 'destructive')}`,
    'rules: []',
    '',
  ].join('\n');
  await loadParser();
  engineFromYaml(policy);
  return policy;
}

function kindOf({ annotations: { readOnlyHint, destructiveHint } = {} }: ListedTool): Kind {
  if (readOnlyHint === true) return 'read-only';
  return destructiveHint === false ? 'additive' : 'destructive';
}
