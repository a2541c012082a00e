import type { Entry } from '../commit/write-queue.ts';
import { clickhouseTime } from '../store/time.ts';
import type { DecisionEvent } from './decision-event.ts';
import type { LlmInvocation } from './llm-invocation.ts';

/** The fields that the server owns (SPECIFICATION 2.2), and the time of the event in milliseconds. */
export type ServerFields = {
  project_id: string;
  agent_version_id: string;
  receivedAtMs: number;
  occurredAtMs: number;
};

/**
 * `version` counts down with received_at, so that the row received first has the highest. Its last bits are drawn by lot:
 * of two rows that two services received in the same millisecond, every reader must call the same one the first.
 */
const VERSION_FROM_MS = 2 ** 42;
const VERSIONS_PER_MS = 2 ** 11;

function versionAt(receivedAtMs: number): number {
  return (VERSION_FROM_MS - receivedAtMs) * VERSIONS_PER_MS + Math.floor(Math.random() * VERSIONS_PER_MS);
}

export const DECISION_COLUMNS = [
  'project_id',
  'event_id',
  'occurred_at',
  'received_at',
  'agent_version_id',
  'version',
  'agent_name',
  'tool_name',
  'outcome',
  'role',
  'error_type',
  'reason',
  'violations',
  'hint',
  'arguments',
  'user_id',
  'session_id',
] as const;

export const LLM_COLUMNS = [
  'project_id',
  'event_id',
  'occurred_at',
  'received_at',
  'agent_version_id',
  'version',
  'agent_name',
  'model',
  'provider',
  'operation',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'reasoning_tokens',
  'duration_ms',
  'cost_usd',
  'finish_reason',
  'error_type',
  'role',
  'user_id',
  'session_id',
] as const;

/** The stored row of a decision, as a line in the order of DECISION_COLUMNS. */
export function decisionEntry(event: DecisionEvent, server: ServerFields): Entry {
  return entryFrom(event.event_id, server, [
    event.agent_name,
    event.tool_name,
    event.outcome,
    event.role,
    event.error_type,
    event.reason,
    event.violations,
    event.hint,
    event.arguments,
    event.user_id,
    event.session_id,
  ]);
}

/** The stored row of a usage report, as a line in the order of LLM_COLUMNS. */
export function llmEntry(usage: LlmInvocation, server: ServerFields): Entry {
  return entryFrom(usage.event_id, server, [
    usage.agent_name,
    usage.model,
    usage.provider,
    usage.operation,
    usage.input_tokens,
    usage.output_tokens,
    usage.cached_input_tokens,
    usage.reasoning_tokens,
    usage.duration_ms,
    usage.cost_usd,
    usage.finish_reason,
    usage.error_type,
    usage.role,
    usage.user_id,
    usage.session_id,
  ]);
}

function entryFrom(event_id: string, server: ServerFields, fields: unknown[]): Entry {
  const { project_id, agent_version_id, receivedAtMs, occurredAtMs } = server;
  const times = [clickhouseTime(occurredAtMs), clickhouseTime(receivedAtMs)];
  const line = [project_id, event_id, ...times, agent_version_id, versionAt(receivedAtMs), ...fields];
  return { identity: { project_id, event_id, occurredAtMs, receivedAtMs }, line: JSON.stringify(line) };
}
