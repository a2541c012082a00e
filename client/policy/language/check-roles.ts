import { checkToolReferences } from './check-tools.ts';
import { ROLE_NAME_LENGTH_MAX, ROLES_MAX } from './limits.ts';
import { hasControlCharacter, reportDuplicates } from './policy-check.ts';
import type { PolicyCheck } from './policy-check.ts';
import type { RoleRow } from './policy-ir.ts';
import { codePointCount } from './utf8.ts';
import type { YamlEntry, YamlNode } from './yaml-node.ts';

export function checkRoles(check: PolicyCheck, node: YamlNode): RoleRow[] {
  const map = check.map(node, 'roles');
  if (map === undefined) return [];
  const beyond = map.entries[ROLES_MAX];
  if (beyond !== undefined) check.faults.add(beyond.at, `roles has more than ${ROLES_MAX} rows`);
  const rows = map.entries.map((entry) => checkRow(check, entry));
  check.roles = new Map(rows.map(({ name }, index) => [name, index]));
  return rows;
}

function checkRow(check: PolicyCheck, { key, at, value }: YamlEntry): RoleRow {
  if (hasControlCharacter(key)) check.faults.add(at, 'a role name must not have control characters');
  if (codePointCount(key) > ROLE_NAME_LENGTH_MAX) {
    check.faults.add(at, `a role name has more than ${ROLE_NAME_LENGTH_MAX} characters`);
  }
  const fields = check.fields(value, `role ${JSON.stringify(key)}`, ['allow', 'approve']);
  const list = (what: 'allow' | 'approve'): number[] => {
    const entry = fields?.get(what);
    if (entry === undefined) return [];
    return checkToolReferences(check, entry.value, { what, star: 'all' }) ?? [];
  };
  const approve = list('approve');
  return { name: key, allow: list('allow').filter((tool) => !approve.includes(tool)), approve };
}

/** The rows a rule names -> their indexes. */
export function checkRoleReferences(check: PolicyCheck, node: YamlNode): number[] | undefined {
  const items = check.items(node, 'roles');
  if (items === undefined) return undefined;
  const named = items.flatMap((item) => {
    const name = check.text(item, 'a role in roles');
    return name === undefined
      ? []
      : [{ at: item.at, id: name, shown: `role ${JSON.stringify(name)} in roles` }];
  });
  reportDuplicates(check, named);
  const declared = check.roles;
  if (declared === undefined) return [];
  const indexes = named.flatMap(({ at, id }) => {
    const index = declared.get(id);
    if (index === undefined) check.faults.add(at, undeclaredMessage(id));
    return index === undefined ? [] : [index];
  });
  return indexes.sort((a, b) => a - b);
}

function undeclaredMessage(name: string): string {
  return name === '*'
    ? 'role "*" is the fallback row, and this policy has none'
    : `role ${JSON.stringify(name)} is not declared in roles`;
}
