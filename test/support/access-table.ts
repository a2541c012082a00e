/**
 * Who may call what, written by hand. A dot: the call is answered by what it asks for; 1: 401; 3: 403. Columns:
 *
 * - no      no credential
 * - bad     a bearer key that nobody signed; rev: a revoked one; exp: an expired one
 * - alien   a key of another project, with all scopes
 * - emit … edit   a key of the project with this scope only: emit_audit, fetch_policy, register_agent, read_audit, edit_policy
 * - narr    a key of the project with all scopes, narrowed to another agent
 * - end     a session that has ended; out: the session of an account that is not a member
 * - view … own    the session of a viewer, editor, admin, owner
 * - site    the owner's session, sent by a page of another site
 * - mixed   the session of an account that is not a member, with a bearer key of the project with all scopes
 */
const REQUIRED = `
                                                          no  bad rev exp alien  emit fetch reg read edit narr  end out view edit adm own site mixed
POST   /v1/audit/decisions                                1   1   1   1   .      .    3     3   3    3    3     1   1   1    1    1   1   1    .
POST   /v1/audit/llm-invocations                          1   1   1   1   .      .    3     3   3    3    3     1   1   1    1    1   1   1    .
POST   /v1/audit/decisions/batch                          1   1   1   1   .      .    3     3   3    3    .     1   1   1    1    1   1   1    .
POST   /v1/audit/llm-invocations/batch                    1   1   1   1   .      .    3     3   3    3    .     1   1   1    1    1   1   1    .
POST   /v1/audit/emitters/{emitter}/close                 1   1   1   1   .      .    3     3   3    3    .     1   1   1    1    1   1   1    .
GET    /v1/agents/{name}                                  1   1   1   1   .      .    .     3   3    3    3     1   1   1    1    1   1   1    .
POST   /v1/agents                                         1   1   1   1   .      .    3     .   3    3    3     1   1   1    1    1   1   1    .
PUT    /v1/projects/{id}/agents/{name}                    1   1   1   1   3      3    3     3   3    .    3     1   3   3    .    .   .   3    .
POST   /v1/projects/{id}/agents/{name}/check              1   1   1   1   3      3    3     3   3    .    3     1   3   3    .    .   .   3    .
GET    /v1/projects/{id}/agents                           1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}                                  1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/agents/{name}/versions           1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/agents/{name}/versions/{version} 1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/agents/{name}/fleet              1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/summary                    1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/timeseries                 1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/breakdown                  1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/completeness               1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/gaps                       1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/llm-invocations            1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/llm-usage                  1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/llm-usage/timeseries       1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/llm-usage/breakdown        1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/decisions                  1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/decisions/export           1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/decisions/{event_id}       1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/decisions/export/proofs    1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/decisions/{event_id}/proof 1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/log/checkpoint                   1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/log/vkey                         1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/log/witnesses                    1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/projects/{id}/log/tile/{tile}                  1   1   1   1   3      3    3     3   .    3    .     1   3   .    .    .   .   .    .
GET    /v1/.well-known/keys                               .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/keys                             1   1   1   1   3      3    3     3   3    3    3     1   3   3    3    .   .   .    3
POST   /v1/projects/{id}/keys                             1   1   1   1   3      3    3     3   3    3    3     1   3   3    3    .   .   3    3
DELETE /v1/projects/{id}/keys/{key_id}                    1   1   1   1   3      3    3     3   3    3    3     1   3   3    3    .   .   3    3
POST   /v1/auth/register                                  .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   3    .
POST   /v1/auth/login                                     .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   3    .
GET    /v1/auth/me                                        1   1   1   1   3      3    3     3   3    3    3     1   .   .    .    .   .   .    .
GET    /v1/auth/options                                   .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/auth/session                                   .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/auth/oidc/start                                .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/auth/oidc/callback                             .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
POST   /v1/auth/change-password                           1   1   1   1   3      3    3     3   3    3    3     1   .   .    .    .   .   3    .
GET    /v1/auth/sessions                                  1   1   1   1   3      3    3     3   3    3    3     1   .   .    .    .   .   .    .
DELETE /v1/auth/sessions                                  1   1   1   1   3      3    3     3   3    3    3     1   .   .    .    .   .   3    .
DELETE /v1/auth/sessions/{id}                             1   1   1   1   3      3    3     3   3    3    3     1   .   .    .    .   .   3    .
POST   /v1/auth/request-verify-token                      .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   3    .
POST   /v1/auth/forgot-password                           .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   3    .
POST   /v1/auth/verify                                    .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   3    .
POST   /v1/auth/reset-password                            .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   3    .
GET    /v1/projects                                       1   1   1   1   3      3    3     3   3    3    3     1   .   .    .    .   .   .    .
POST   /v1/projects                                       1   1   1   1   3      3    3     3   3    3    3     1   .   .    .    .   .   3    .
GET    /v1/projects/{id}/members                          1   1   1   1   3      3    3     3   3    3    3     1   3   .    .    .   .   .    3
POST   /v1/projects/{id}/members                          1   1   1   1   3      3    3     3   3    3    3     1   3   3    3    .   .   3    3
PUT    /v1/projects/{id}/members/{account_id}             1   1   1   1   3      3    3     3   3    3    3     1   3   3    3    .   .   3    3
DELETE /v1/projects/{id}/members/{account_id}             1   1   1   1   3      3    3     3   3    3    3     1   3   3    3    .   .   3    3
GET    /v1/projects/{id}/activity                         1   1   1   1   3      3    3     3   3    3    3     1   3   .    .    .   .   .    3
GET    /v1/projects/{id}/alerts                           1   1   1   1   3      3    3     3   3    3    3     1   3   .    .    .   .   .    3
GET    /v1/projects/{id}/alerts/settings                  1   1   1   1   3      3    3     3   3    3    3     1   3   .    .    .   .   .    3
PUT    /v1/projects/{id}/alerts/settings                  1   1   1   1   3      3    3     3   3    3    3     1   3   3    .    .   .   3    3
PUT    /v1/projects/{id}/alerts/webhook                   1   1   1   1   3      3    3     3   3    3    3     1   3   3    3    .   .   3    3
DELETE /v1/projects/{id}/alerts/webhook                   1   1   1   1   3      3    3     3   3    3    3     1   3   3    3    .   .   3    3
GET    /healthz                                           .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /readyz                                            .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /metrics                                           .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /openapi.json                                      .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /docs                                              .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /docs/{file}                                       .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
POST   /v1/auth/logout                                    1   1   1   1   3      3    3     3   3    3    3     1   .   .    .    .   .   3    .
`;

/** The rows that differ with GATE_READ_AUTH=open. */
const OPEN = `
GET    /v1/projects/{id}/agents                           .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}                                  .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/agents/{name}/versions           .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/agents/{name}/versions/{version} .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/agents/{name}/fleet              .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/summary                    .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/timeseries                 .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/breakdown                  .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/completeness               .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/gaps                       .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/llm-invocations            .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/llm-usage                  .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/llm-usage/timeseries       .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/llm-usage/breakdown        .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/decisions                  .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/decisions/export           .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/decisions/{event_id}       .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/decisions/export/proofs    .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/audit/decisions/{event_id}/proof .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/log/checkpoint                   .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/log/vkey                         .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/log/witnesses                    .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
GET    /v1/projects/{id}/log/tile/{tile}                  .   .   .   .   .      .    .     .   .    .    .     .   .   .    .    .   .   .    .
`;

export const CREDENTIALS = [
  'no credential',
  'an invalid key',
  'a revoked key',
  'an expired key',
  'a key of another project',
  'a key with emit_audit',
  'a key with fetch_policy',
  'a key with register_agent',
  'a key with read_audit',
  'a key with edit_policy',
  'a key narrowed to another agent',
  'an ended session',
  'the session of a stranger',
  'the session of a viewer',
  'the session of an editor',
  'the session of an admin',
  'the session of an owner',
  "an owner's session from another site",
  "a stranger's session and a key",
] as const;
export type CredentialName = (typeof CREDENTIALS)[number];

/** The cells of each call, `METHOD path`, in the order of CREDENTIALS. */
export type AccessTable = Map<string, string[]>;

function rowsOf(text: string): [string, string[]][] {
  const lines = text.split('\n').filter((line) => /^[A-Z]/.test(line));
  return lines.map((line) => {
    const [method = '', path = '', ...cells] = line.split(/ +/);
    return [`${method} ${path}`, cells];
  });
}

export const ACCESS: Record<'required' | 'open', AccessTable> = {
  required: new Map(rowsOf(REQUIRED)),
  open: new Map(rowsOf(REQUIRED + OPEN)),
};
