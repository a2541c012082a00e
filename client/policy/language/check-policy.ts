import { checkRoles } from './check-roles.ts';
import { checkRules } from './check-rules.ts';
import { checkTools } from './check-tools.ts';
import { AGENT_NAME_LENGTH_MAX } from './limits.ts';
import { codePointCount } from './utf8.ts';
import type { Fields, PolicyCheck } from './policy-check.ts';
import type { PolicyIr } from './policy-ir.ts';
import type { YamlNode } from './yaml-node.ts';

const KEYS = ['version', 'agent', 'description', 'tools', 'roles', 'rules'];

/** The whole policy; what it returns is only good when the check found no fault. */
export function checkPolicy(check: PolicyCheck, root: YamlNode): PolicyIr | undefined {
  const fields = check.fields(root, 'the policy', KEYS);
  if (fields === undefined) return undefined;
  const owner = { at: root.at, what: 'the policy' };
  checkVersion(check, check.required(fields, 'version', owner));
  const agent = checkAgent(check, fields);
  const description = checkDescription(check, fields);
  const toolsNode = check.required(fields, 'tools', owner);
  const tools = toolsNode === undefined ? [] : checkTools(check, toolsNode);
  const rolesNode = check.required(fields, 'roles', owner);
  const roles = rolesNode === undefined ? [] : checkRoles(check, rolesNode);
  const rulesEntry = fields.get('rules');
  const rules = rulesEntry === undefined ? [] : checkRules(check, rulesEntry.value);
  return { agent, description, tools, roles, rules };
}

function checkVersion(check: PolicyCheck, node: YamlNode | undefined): void {
  if (node === undefined || (node.kind === 'number' && node.source === '1')) return;
  check.refuse(node, 'version must be 1');
}

function checkAgent(check: PolicyCheck, fields: Fields): string | null {
  const entry = fields.get('agent');
  if (entry === undefined) return null;
  const agent = check.printable(entry.value, 'agent');
  if (agent !== undefined && codePointCount(agent) > AGENT_NAME_LENGTH_MAX) {
    check.refuse(entry.value, `agent has more than ${AGENT_NAME_LENGTH_MAX} characters`);
  }
  return agent ?? null;
}

function checkDescription(check: PolicyCheck, fields: Fields): string | null {
  const entry = fields.get('description');
  return entry === undefined ? null : (check.printable(entry.value, 'description') ?? null);
}
