import type { Api } from '../../../app.ts';
import type { JsonValue } from './types.ts';

/** Names an endpoint: `METHOD path`. One that is not declared is a compile error. */
export type Name = keyof Api;

/** The result of `parseExact` for an answer. */
type Parsed<T> = unknown extends T ? JsonValue : T extends object ? { [Key in keyof T]: Parsed<T[Key]> } : T;
export type Answer<N extends Name> = Parsed<Api[N]['answer']>;
export type Body<N extends Name> = Api[N]['body'];
type QueryValue = string | number | readonly string[] | undefined;

/** Becomes from and to when the call is made (relative-period.ts). */
type Relative<N extends Name> = 'from' extends keyof Api[N]['query'] ? 'last' : never;
/** Only declared parameters; a list repeats its parameter. The service validates their values: some come from the address bar. */
type Query<N extends Name> = { [Key in keyof Api[N]['query'] | Relative<N>]?: QueryValue };
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
    query?: Record<string, QueryValue>;
  };
  const [method = '', template = ''] = name.split(' ');
  const path = template.replaceAll(/\{(\w+)\}/g, (_all, key: string) =>
    encodeURIComponent(params[key] ?? ''),
  );
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined) search.append(key, String(one));
  }
  return { name, method, path: search.size === 0 ? path : `${path}?${search}` };
}

export function summaryOf(projectId: string, query: Query<'GET /v1/projects/{id}/audit/summary'>) {
  return call('GET /v1/projects/{id}/audit/summary', { params: { id: projectId }, query });
}

export function timeseriesOf(projectId: string, query: Query<'GET /v1/projects/{id}/audit/timeseries'>) {
  return call('GET /v1/projects/{id}/audit/timeseries', { params: { id: projectId }, query });
}

export function breakdownOf(projectId: string, query: Query<'GET /v1/projects/{id}/audit/breakdown'>) {
  return call('GET /v1/projects/{id}/audit/breakdown', { params: { id: projectId }, query });
}

export function usageBreakdownOf(
  projectId: string,
  query: Query<'GET /v1/projects/{id}/audit/llm-usage/breakdown'>,
) {
  return call('GET /v1/projects/{id}/audit/llm-usage/breakdown', { params: { id: projectId }, query });
}

export function decisionOf(projectId: string, eventId: string) {
  const params = { id: projectId, event_id: eventId };
  return call('GET /v1/projects/{id}/audit/decisions/{event_id}', { params });
}

export function versionOf(projectId: string, name: string, version: number) {
  const params = { id: projectId, name, version: String(version) };
  return call('GET /v1/projects/{id}/agents/{name}/versions/{version}', { params });
}
