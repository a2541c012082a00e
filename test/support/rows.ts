import type { Entry } from '../../server/commit/write-queue.ts';
import { DECISION_COLUMNS, parseDecisionEvent } from '../../server/ingest/decision-event.ts';
import { entryFrom } from '../../server/ingest/event-row.ts';
import { decisionEvent } from './events.ts';

type Given = { event_id?: string; tool_name?: string; reason?: string };

/** A row as ingest makes it. Rows of the tool `poison` are refused by the store. */
export function entryOf(project_id: string, given: Given = {}): Entry {
  const event = parseDecisionEvent(JSON.stringify(decisionEvent({ tool_name: 'fine', ...given })));
  return entryFrom(event, { project_id, agent_version_id: '', receivedAtMs: Date.now() }, DECISION_COLUMNS);
}
