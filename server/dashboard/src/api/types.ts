import type { Answer } from './call.ts';

/** A number that would lose digits as a JavaScript number is a JsonNumber. */
export type JsonValue =
  null | boolean | number | string | JsonNumber | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Marks a string that represents a number. Random, so that no text can contain it. */
export const NUMBER_MARK = `number:${Math.random()}:`;

/** A number with its original digits. */
export class JsonNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** For sums, comparisons and formats, which treat it as a number. */
  valueOf(): number {
    return Number(this.source);
  }

  /** Part of a JSON text until `writeExact` replaces it. */
  toJSON(): string {
    return NUMBER_MARK + this.source;
  }
}

export type Summary = Answer<'GET /v1/projects/{id}/audit/summary'>;
export type Completeness = NonNullable<Summary['completeness']>;
export type GapItem = Answer<'GET /v1/projects/{id}/audit/gaps'>['items'][number];
export type OutcomeCounts = Summary['totals'];
export type WindowName = NonNullable<Summary['window']>;
export type Timeseries = Answer<'GET /v1/projects/{id}/audit/timeseries'>;
export type DecisionsPage = Answer<'GET /v1/projects/{id}/audit/decisions'>;
export type DecisionRecord = DecisionsPage['items'][number];
export type Outcome = DecisionRecord['outcome'];
export type LlmUsage = Answer<'GET /v1/projects/{id}/audit/llm-usage'>;
export type CallsPage = Answer<'GET /v1/projects/{id}/audit/llm-invocations'>;
export type ModelCall = CallsPage['items'][number];
export type UsageCounts = LlmUsage['totals'];
export type UsageSeries = Answer<'GET /v1/projects/{id}/audit/llm-usage/timeseries'>;

export type AgentSummary = Answer<'GET /v1/projects/{id}/agents'>['items'][number];
export type AgentTool = AgentSummary['tools'][number];
export type VersionSummary = Answer<'GET /v1/projects/{id}/agents/{name}/versions'>['items'][number];
export type AgentVersion = Answer<'GET /v1/projects/{id}/agents/{name}/versions/{version}'>;
export type Fleet = Answer<'GET /v1/projects/{id}/agents/{name}/fleet'>;
export type CheckResult = Answer<'POST /v1/projects/{id}/agents/{name}/check'>;
export type Decision = NonNullable<CheckResult['decisions']>[number];
export type ReplayResult = NonNullable<CheckResult['replay']>;

export type LogWitness = Answer<'GET /v1/projects/{id}/log/witnesses'>['items'][number];
export type Me = Answer<'GET /v1/auth/me'>;
export type SessionItem = Answer<'GET /v1/auth/sessions'>['items'][number];
export type KeyItem = Answer<'GET /v1/projects/{id}/keys'>['items'][number];
export type NewKey = Answer<'POST /v1/projects/{id}/keys'>;
export type Member = Answer<'GET /v1/projects/{id}/members'>['items'][number];
export type AlertSettings = Answer<'GET /v1/projects/{id}/alerts/settings'>;
export type AlertItem = Answer<'GET /v1/projects/{id}/alerts'>['items'][number];
export type AlertRule = AlertItem['rule'];
export type ActivityPage = Answer<'GET /v1/projects/{id}/activity'>;
export type ActivityItem = ActivityPage['items'][number];

/** One fault of a problem. Faults of a policy have a line and a column. */
export type PolicyFault = { line?: number; column?: number; message: string; path?: string };
