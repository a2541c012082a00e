/** The roles of members. Each may do what the ones before it may. */
export const ROLES = ['viewer', 'editor', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export function hasRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** Owners manage the members of all roles, admins those below admin. */
export function mayManage(role: Role, managed: Role[]): boolean {
  return role === 'owner' || (role === 'admin' && !managed.some((one) => hasRole(one, 'admin')));
}

/** The scopes of a bearer key. `emit_audit` includes `fetch_policy` and `register_agent`. */
export const SCOPES = ['emit_audit', 'fetch_policy', 'register_agent', 'read_audit', 'edit_policy'] as const;
export type Scope = (typeof SCOPES)[number];
export const DEFAULT_SCOPE = 'emit_audit read_audit';

const INCLUDED: Partial<Record<string, Scope[]>> = { emit_audit: ['fetch_policy', 'register_agent'] };

/** All scopes that a key has with this claim: scopes separated by spaces. */
export function scopesFrom(claim: string): ReadonlySet<string> {
  return new Set(claim.split(' ').flatMap((scope) => [scope, ...(INCLUDED[scope] ?? [])]));
}

/** True for known scopes separated by spaces. */
export function isScope(text: string): boolean {
  return text.split(' ').every((scope) => SCOPES.some((known) => known === scope));
}
