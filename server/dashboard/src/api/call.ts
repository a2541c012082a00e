import type { Api } from '../../../app.ts';
import type { JsonValue, WindowName } from './types.ts';

/** Names an endpoint: `METHOD path`. One that is not declared is a compile error. */
export type Name = keyof Api;

/** What `parseExact` makes of an answer. */
type Parsed<T> = unknown extends T ? JsonValue : T extends object ? { [Key in keyof T]: Parsed<T[Key]> } : T;
export type Answer<N extends Name> = Parsed<Api[N]['answer']>;
export type Body<N extends Name> = Api[N]['body'];
/** Only declared parameters. The service validates their values: some come from the address bar. */
type Query<N extends Name> = { [Key in keyof Api[N]['query']]?: string | number | undefined };
type Given<N extends Name> = (keyof Api[N]['params'] extends never
  ? object
  : { params: Api[N]['params'] }) & {
  query?: Query<N>;
};

/** A call of the API, with the types of its endpoint. */
export type Call<N extends Name = Name> = { name: N; method: string; path: string };

export function call<N extends Name>(name: N, given: Given<N>): Call<N> {
  const { params = {}, query = {} } = given as {
    params?: Record<string, string>;
    query?: Record<string, string | number | undefined>;
  };
  const [method = '', template = ''] = name.split(' ');
  const path = template.replaceAll(/\{(\w+)\}/g, (_all, key: string) =>
    encodeURIComponent(params[key] ?? ''),
  );
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) search.set(key, String(value));
  }
  return { name, method, path: search.size === 0 ? path : `${path}?${search}` };
}

/** The filters of decisions. Absent means no filter; role '' means records without a role. */
export const FILTER_NAMES = [
  'outcome',
  'agent',
  'role',
  'tool',
  'user_id',
  'session_id',
] as const satisfies readonly (keyof Query<'GET /v1/projects/{id}/audit/decisions'>)[];
export type FilterName = (typeof FILTER_NAMES)[number];
export type Filters = Partial<Record<FilterName, string>>;

export function summaryOf(projectId: string, window: WindowName) {
  return call('GET /v1/projects/{id}/audit/summary', { params: { id: projectId }, query: { window } });
}

export function timeseriesOf(projectId: string, window: WindowName) {
  return call('GET /v1/projects/{id}/audit/timeseries', { params: { id: projectId }, query: { window } });
}

export function versionOf(projectId: string, name: string, version: number) {
  const params = { id: projectId, name, version: String(version) };
  return call('GET /v1/projects/{id}/agents/{name}/versions/{version}', { params });
}
