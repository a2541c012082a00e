import type { Scope } from '../../../../rights.ts';

export const SCOPE_LABELS: Record<Scope, string> = {
  emit_audit: 'write events',
  fetch_policy: 'fetch policies',
  register_agent: 'register agents',
  read_audit: 'read audit',
  edit_policy: 'edit policies',
};

/** The permissions of a key: `write events, read audit`. */
export function scopeText(scope: string): string {
  const labels: Record<string, string> = SCOPE_LABELS;
  return scope
    .split(' ')
    .map((one) => labels[one] ?? one)
    .join(', ');
}
