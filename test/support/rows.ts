import type { Entry } from '../../server/commit/write-queue.ts';
import { DECISION_ROW, decisionEventFrom, decisionEventSchema } from '../../server/ingest/decision-event.ts';
import { entryFrom } from '../../server/ingest/event-row.ts';
import { createParser } from '../../server/validate.ts';
import { decisionEvent } from './events.ts';

const parse = createParser<Parameters<typeof decisionEventFrom>[0]>(decisionEventSchema);

type Given = { event_id?: string; tool_name?: string; reason?: string };

/** A row as ingest creates it. The store refuses rows of the tool `poison`. */
export function entryOf(project_id: string, given: Given = {}): Entry {
  const event = decisionEventFrom(parse(decisionEvent({ tool_name: 'fine', ...given })), '');
  return entryFrom(event, { project_id, agent_version_id: '', receivedAtMs: Date.now() }, DECISION_ROW);
}
