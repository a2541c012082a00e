import { validateToolReferences } from './validate-tools.ts';
import { ROLE_NAME_LENGTH_MAX, ROLES_MAX } from './limits.ts';
import { hasControlCharacter, type PolicyValidator } from './policy-validator.ts';
import type { RoleRow } from './policy-ir.ts';
import { codePointCount } from './utf8.ts';
import type { YamlEntry, YamlNode } from './yaml-node.ts';

export function validateRoles(validator: PolicyValidator, node: YamlNode): RoleRow[] {
  const map = validator.map(node, 'roles');
  if (map === undefined) return [];
  const beyond = map.entries[ROLES_MAX];
  if (beyond !== undefined) validator.faults.add(beyond.at, `roles has more than ${ROLES_MAX} rows`);
  const rows = map.entries.map((entry) => validateRow(validator, entry));
  validator.roles = new Map(rows.map(({ name }, index) => [name, index]));
  return rows;
}

function validateRow(validator: PolicyValidator, { key, at, value }: YamlEntry): RoleRow {
  if (hasControlCharacter(key)) validator.faults.add(at, 'a role name must not have control characters');
  if (codePointCount(key) > ROLE_NAME_LENGTH_MAX) {
    validator.faults.add(at, `a role name has more than ${ROLE_NAME_LENGTH_MAX} characters`);
  }
  const fields = validator.fields(value, `role ${JSON.stringify(key)}`, ['allow', 'approve']);
  const list = (what: 'allow' | 'approve'): number[] => {
    const listed = fields?.get(what);
    return listed ? validateToolReferences(validator, listed, { what, isStarAll: true }) : [];
  };
  const approve = list('approve');
  return { name: key, allow: list('allow').filter((tool) => !approve.includes(tool)), approve };
}

/** Returns the indexes of the roles that a rule names. */
export function validateRoleReferences(validator: PolicyValidator, node: YamlNode): number[] {
  const undeclared = 'role "*" is the fallback row, and this policy has none';
  return validator.references(node, { kind: 'role', what: 'roles', declared: validator.roles, undeclared });
}
