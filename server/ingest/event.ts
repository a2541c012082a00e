import type { Static, TObject } from 'typebox';
import { parseRfc3339 } from '../rfc3339.ts';
import { text } from '../validate.ts';
import { Type } from '../type.ts';

const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';
export const UUID_TEXT = new RegExp(UUID_PATTERN);

/** The fields that every kind of event has. */
export const COMMON_FIELDS = {
  event_id: Type.String({
    pattern: UUID_PATTERN,
    description: 'Generated once per event by the sender; upper case is folded to lower case',
  }),
  occurred_at: Type.String({
    format: 'date-time',
    description: 'RFC 3339 with a zone, truncated to milliseconds',
  }),
  agent_name: text(200, { minLength: 1 }),
  role: optionalText(100),
  user_id: optionalText(200),
  session_id: optionalText(200),
};

export function optionalText(maxLength: number, fallback = '') {
  return Type.Optional(text(maxLength, { default: fallback }));
}

type EventSchema = TObject<typeof COMMON_FIELDS>;

/** An event as it was sent, with its defaults filled in, and its time in milliseconds since the epoch. */
export type EventOf<Schema extends EventSchema> = Required<Static<Schema>> & { occurredAtMs: number };
export type Event = EventOf<EventSchema>;

/** Returns a function that copies the declared fields of a parsed body, and nothing else, into an event. */
export function createEventCopy<Schema extends EventSchema>(
  schema: Schema,
): (body: Static<Schema>) => EventOf<Schema> {
  const names = Object.keys(schema.properties);
  return (body: Record<string, unknown>) => {
    const event: Record<string, unknown> = {};
    for (const name of names) event[name] = body[name];
    event['event_id'] = String(body['event_id']).toLowerCase();
    event['occurredAtMs'] = parseRfc3339(String(body['occurred_at']));
    return event as EventOf<Schema>;
  };
}
