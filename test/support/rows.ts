import { randomUUID } from 'node:crypto';
import { decisionEntry } from '../../server/ingest/event-row.ts';
import type { Entry } from '../../server/commit/write-queue.ts';

type Given = { event_id?: string; tool_name?: string; reason?: string };

/** A row as ingest makes it. Rows of the tool `poison` are refused by the store. */
export function entryOf(project_id: string, given: Given = {}): Entry {
  const texts = {
    agent_name: 'agent',
    role: '',
    error_type: '',
    hint: '',
    arguments: '',
    user_id: '',
    session_id: '',
  };
  const event = {
    ...texts,
    event_id: randomUUID(),
    occurred_at: '',
    tool_name: 'fine',
    outcome: 'allow' as const,
    reason: '',
    violations: [],
    ...given,
  };
  const nowMs = Date.now();
  return decisionEntry(event, { project_id, agent_version_id: '', receivedAtMs: nowMs, occurredAtMs: nowMs });
}
