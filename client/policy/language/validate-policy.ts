import { validateRoles } from './validate-roles.ts';
import { validateRules } from './validate-rules.ts';
import { validateTools } from './validate-tools.ts';
import { AGENT_NAME_LENGTH_MAX } from './limits.ts';
import { codePointCount } from './utf8.ts';
import type { PolicyValidator } from './policy-validator.ts';
import type { PolicyIr } from './policy-ir.ts';
import type { YamlNode } from './yaml-node.ts';

const KEYS = ['version', 'agent', 'description', 'tools', 'roles', 'rules'];

/** Validates the whole policy. The result is only valid if no faults were found. */
export function validatePolicy(validator: PolicyValidator, root: YamlNode): PolicyIr | undefined {
  const fields = validator.fields(root, 'the policy', KEYS);
  if (fields === undefined) return undefined;
  const owner = { at: root.at, what: 'the policy' };
  validateVersion(validator, validator.required(fields, 'version', owner));
  const agent = validateAgent(validator, fields.get('agent'));
  const descriptionNode = fields.get('description');
  const description = (descriptionNode && validator.printable(descriptionNode, 'description')) ?? null;
  const toolsNode = validator.required(fields, 'tools', owner);
  const tools = toolsNode === undefined ? [] : validateTools(validator, toolsNode);
  const rolesNode = validator.required(fields, 'roles', owner);
  const roles = rolesNode === undefined ? [] : validateRoles(validator, rolesNode);
  const rulesNode = fields.get('rules');
  const rules = rulesNode === undefined ? [] : validateRules(validator, rulesNode);
  return { agent, description, tools, roles, rules };
}

function validateVersion(validator: PolicyValidator, node: YamlNode | undefined): void {
  if (node === undefined || (node.kind === 'number' && node.source === '1')) return;
  validator.refuse(node, 'version must be 1');
}

function validateAgent(validator: PolicyValidator, node: YamlNode | undefined): string | null {
  if (node === undefined) return null;
  const agent = validator.printable(node, 'agent');
  if (agent !== undefined && codePointCount(agent) > AGENT_NAME_LENGTH_MAX) {
    validator.refuse(node, `agent has more than ${AGENT_NAME_LENGTH_MAX} characters`);
  }
  return agent ?? null;
}
