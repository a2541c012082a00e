import type { Api } from '../../../app.ts';
import { placeWith, type QueryValues } from '../app/route.ts';
import type { JsonValue } from './types.ts';

/** Names an endpoint: `METHOD path`. One that is not declared is a compile error. */
export type Name = keyof Api;

/** The result of `parseExact` for an answer. */
type Parsed<T> = unknown extends T ? JsonValue : T extends object ? { [Key in keyof T]: Parsed<T[Key]> } : T;
export type Answer<N extends Name> = Parsed<Api[N]['answer']>;
export type Body<N extends Name> = Api[N]['body'];

/** Converted to from and to when the call is made (relative-period.ts). */
type Relative<N extends Name> = 'from' extends keyof Api[N]['query'] ? 'last' : never;
/** Only declared parameters. The service validates their values, because some come from the address bar. */
type Query<N extends Name> = { [Key in keyof Api[N]['query'] | Relative<N>]?: QueryValues[string] };
type Given<N extends Name> = keyof Api[N]['params'] extends never
  ? []
  : [params: Api[N]['params'], query?: Query<N>];

/** A call of the API, with the types of its endpoint. */
export type Call<N extends Name = Name> = { name: N; method: string; path: string };

export function call<N extends Name>(name: N, ...given: Given<N>): Call<N> {
  const [params = {}, query = {}] = given as [params?: Record<string, string>, query?: QueryValues];
  const [method = '', template = ''] = name.split(' ');
  const path = template.replaceAll(/\{(\w+)\}/g, (_all, key: string) =>
    encodeURIComponent(params[key] ?? ''),
  );
  return { name, method, path: placeWith(path, query) };
}

type AuditRead =
  | 'summary'
  | 'timeseries'
  | 'breakdown'
  | 'completeness'
  | 'gaps'
  | 'decisions'
  | 'decisions/export'
  | 'llm-usage'
  | 'llm-usage/timeseries'
  | 'llm-usage/breakdown'
  | 'llm-invocations';
type AuditName<Read extends AuditRead> = `GET /v1/projects/{id}/audit/${Read}`;

/** A read of the records of a project. */
export function auditOf<Read extends AuditRead>(
  projectId: string,
  read: Read,
  query: Query<AuditName<Read>>,
): Call<AuditName<Read>> {
  const given: unknown = [{ id: projectId }, query];
  return call(`GET /v1/projects/{id}/audit/${read}`, ...(given as Given<AuditName<Read>>));
}

export function checkOf(projectId: string, name: string) {
  return call('POST /v1/projects/{id}/agents/{name}/check', { id: projectId, name });
}

export function versionOf(projectId: string, name: string, version: number) {
  const params = { id: projectId, name, version: String(version) };
  return call('GET /v1/projects/{id}/agents/{name}/versions/{version}', params);
}
