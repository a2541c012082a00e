import { validateCondition } from './validate-condition.ts';
import { validateHint } from './validate-hint.ts';
import { validateRoleReferences } from './validate-roles.ts';
import { validateToolReferences } from './validate-tools.ts';
import { REASON_BYTES_MAX, RULE_ID_LENGTH_MAX, RULES_MAX } from './limits.ts';
import type { Fields, PolicyValidator } from './policy-validator.ts';
import type { Condition, Effect, Rule } from './policy-ir.ts';
import { utf8Length } from './utf8.ts';
import type { YamlNode } from './yaml-node.ts';

const KEYS = ['id', 'tools', 'roles', 'when', 'require', 'effect', 'reason', 'hint'];
const RULE_ID = /^[a-z0-9][a-z0-9._-]*$/;

export function validateRules(validator: PolicyValidator, node: YamlNode): Rule[] {
  const items = validator.items(node, 'rules', { itemsMax: RULES_MAX, mayBeEmpty: true });
  if (items === undefined) return [];
  const ids = new Set<string>();
  return items.flatMap((item) => {
    const fields = validator.fields(item, 'a rule', KEYS);
    if (fields === undefined) return [];
    const rule = validateRule(validator, fields, item);
    const at = fields.get('id')?.at ?? item.at;
    if (ids.has(rule.id)) validator.faults.add(at, `duplicate rule id "${rule.id}"`);
    if (rule.id !== '') ids.add(rule.id);
    return [rule];
  });
}

function validateRule(validator: PolicyValidator, fields: Fields, node: YamlNode): Rule {
  const owner = { at: node.at, what: 'a rule' };
  const id = validateId(validator, validator.required(fields, 'id', owner));
  const tools = fields.get('tools');
  const roles = fields.get('roles');
  const hint = fields.get('hint');
  return {
    id,
    tools: tools ? validateToolReferences(validator, tools, { what: 'tools' }) : null,
    roles: roles ? validateRoleReferences(validator, roles) : null,
    when: validateClause(validator, fields.get('when')),
    require: validateClause(validator, fields.get('require')),
    effect: validateEffect(validator, validator.required(fields, 'effect', owner)),
    reason: validateReason(validator, validator.required(fields, 'reason', owner)),
    hintText: hint ? validateHint(validator, hint) : JSON.stringify({ code: 'rule', rule: id }),
  };
}

function validateClause(validator: PolicyValidator, node: YamlNode | undefined): Condition | null {
  return (node && validateCondition(validator, node, { depth: 1, base: 'arguments' })) ?? null;
}

function validateId(validator: PolicyValidator, node: YamlNode | undefined): string {
  const id = node === undefined ? undefined : validator.text(node, 'id');
  if (node === undefined || id === undefined) return '';
  if (id.length > RULE_ID_LENGTH_MAX) {
    validator.refuse(node, `id has more than ${RULE_ID_LENGTH_MAX} characters`);
  } else if (!RULE_ID.test(id)) {
    validator.refuse(node, 'id starts with a-z or 0-9 and goes on with a-z, 0-9, ".", "_" or "-"');
  }
  return id;
}

function validateEffect(validator: PolicyValidator, node: YamlNode | undefined): Effect {
  const effect = node === undefined ? undefined : validator.text(node, 'effect');
  if (effect === 'needs_approval' || effect === 'deny') return effect;
  if (node !== undefined && effect !== undefined)
    validator.refuse(node, 'effect must be deny or needs_approval');
  return 'deny';
}

function validateReason(validator: PolicyValidator, node: YamlNode | undefined): string {
  const reason = node === undefined ? undefined : validator.printable(node, 'reason');
  if (node === undefined || reason === undefined) return '';
  if (reason.trim() === '') validator.refuse(node, 'reason must not be empty');
  if (utf8Length(reason) > REASON_BYTES_MAX) {
    validator.refuse(node, `reason has more than ${REASON_BYTES_MAX} bytes`);
  }
  return reason;
}
