import { checkCondition } from './check-condition.ts';
import { checkHint, defaultHintText } from './check-hint.ts';
import { checkRoleReferences } from './check-roles.ts';
import { checkToolReferences } from './check-tools.ts';
import { REASON_BYTES_MAX, RULE_ID_LENGTH_MAX, RULES_MAX } from './limits.ts';
import { reportDuplicates } from './policy-check.ts';
import type { Fields, PolicyCheck } from './policy-check.ts';
import type { Condition, Effect, Rule } from './policy-ir.ts';
import { utf8Length } from './utf8.ts';
import type { YamlNode } from './yaml-node.ts';

const KEYS = ['id', 'tools', 'roles', 'when', 'require', 'effect', 'reason', 'hint'];
const RULE_ID = /^[a-z0-9][a-z0-9._-]*$/;

export function checkRules(check: PolicyCheck, node: YamlNode): Rule[] {
  const items = check.items(node, 'rules', { itemsMax: RULES_MAX, mayBeEmpty: true });
  if (items === undefined) return [];
  const ids: { at: number; id: string; shown: string }[] = [];
  const rules = items.flatMap((item) => {
    const fields = check.fields(item, 'a rule', KEYS);
    if (fields === undefined) return [];
    const rule = checkRule(check, fields, item);
    const at = fields.get('id')?.value.at;
    if (at !== undefined && rule.id !== '') ids.push({ at, id: rule.id, shown: `rule id "${rule.id}"` });
    return [rule];
  });
  reportDuplicates(check, ids);
  return rules;
}

function checkRule(check: PolicyCheck, fields: Fields, node: YamlNode): Rule {
  const owner = { at: node.at, what: 'a rule' };
  const id = checkId(check, check.required(fields, 'id', owner));
  const tools = fields.get('tools');
  const roles = fields.get('roles');
  const hint = fields.get('hint');
  return {
    id,
    tools:
      tools === undefined
        ? null
        : (checkToolReferences(check, tools.value, { what: 'tools', star: 'refused' }) ?? []),
    roles: roles === undefined ? null : (checkRoleReferences(check, roles.value) ?? []),
    when: checkClause(check, fields, 'when'),
    require: checkClause(check, fields, 'require'),
    effect: checkEffect(check, check.required(fields, 'effect', owner)),
    reason: checkReason(check, check.required(fields, 'reason', owner)),
    hintText: hint === undefined ? defaultHintText(id) : checkHint(check, hint.value),
  };
}

function checkClause(check: PolicyCheck, fields: Fields, key: 'when' | 'require'): Condition | null {
  const entry = fields.get(key);
  return entry === undefined
    ? null
    : (checkCondition(check, entry.value, { depth: 1, base: 'arguments' }) ?? null);
}

function checkId(check: PolicyCheck, node: YamlNode | undefined): string {
  const id = node === undefined ? undefined : check.text(node, 'id');
  if (node === undefined || id === undefined) return '';
  if (id.length > RULE_ID_LENGTH_MAX) {
    check.refuse(node, `id has more than ${RULE_ID_LENGTH_MAX} characters`);
  } else if (!RULE_ID.test(id)) {
    check.refuse(node, 'id starts with a-z or 0-9 and goes on with a-z, 0-9, ".", "_" or "-"');
  }
  return id;
}

function checkEffect(check: PolicyCheck, node: YamlNode | undefined): Effect {
  const effect = node === undefined ? undefined : check.text(node, 'effect');
  if (effect === 'needs_approval' || effect === 'deny') return effect;
  if (node !== undefined && effect !== undefined) check.refuse(node, 'effect must be deny or needs_approval');
  return 'deny';
}

function checkReason(check: PolicyCheck, node: YamlNode | undefined): string {
  const reason = node === undefined ? undefined : check.printable(node, 'reason');
  if (node === undefined || reason === undefined) return '';
  if (reason.trim() === '') check.refuse(node, 'reason must not be empty');
  if (utf8Length(reason) > REASON_BYTES_MAX) {
    check.refuse(node, `reason has more than ${REASON_BYTES_MAX} bytes`);
  }
  return reason;
}
