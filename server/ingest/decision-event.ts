import { createParser } from '../validate.ts';
import { exactJson, hasNumberAtRisk, parseJson } from '../json.ts';

export const OUTCOMES = ['allow', 'deny', 'needs_approval'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

/** SPECIFICATION 2.1, with the defaults of CONTRACT 4 filled in. hint and arguments are JSON text, null is ''. */
export type DecisionEvent = {
  event_id: string;
  occurred_at: string;
  agent_name: string;
  tool_name: string;
  outcome: Outcome;
  role: string;
  error_type: string;
  reason: string;
  violations: string[];
  hint: string;
  arguments: string;
  user_id: string;
  session_id: string;
};

type DecisionBody = Pick<DecisionEvent, 'event_id' | 'occurred_at' | 'agent_name' | 'tool_name' | 'outcome'> &
  Partial<Omit<DecisionEvent, 'hint' | 'arguments'>> & { hint?: object | null; arguments?: object | null };

/** A string field of at most `maxLength` Unicode code points. */
export function text(maxLength: number, minLength = 0) {
  return { type: 'string', minLength, maxLength, format: 'text' } as const;
}

export const decisionEventSchema = {
  type: 'object',
  required: ['event_id', 'occurred_at', 'agent_name', 'tool_name', 'outcome'],
  properties: {
    event_id: {
      type: 'string',
      pattern: UUID_PATTERN,
      description: 'Made once per event by the sender; upper case is folded to lower',
    },
    occurred_at: {
      type: 'string',
      format: 'date-time',
      description: 'RFC 3339 with a zone, cut to milliseconds',
    },
    agent_name: text(200, 1),
    tool_name: text(200, 1),
    outcome: { type: 'string', enum: OUTCOMES },
    role: { ...text(100), default: '' },
    error_type: { ...text(100), description: 'Derived from outcome when absent or empty' },
    reason: { ...text(4000), default: '' },
    violations: { type: 'array', maxItems: 100, items: text(1000), default: [] },
    hint: { type: ['object', 'null'], default: null, description: 'At most 4,096 bytes of JSON' },
    arguments: { type: ['object', 'null'], default: null, description: 'At most 8,192 bytes of JSON' },
    user_id: { ...text(200), default: '' },
    session_id: { ...text(200), default: '' },
  },
} as const;

const parseBody = createParser<DecisionBody>(decisionEventSchema);

const ERROR_TYPES: Record<Outcome, string> = {
  allow: '',
  deny: 'policy_denied',
  needs_approval: 'approval_required',
};

/** Reads the body of an ingest request: copies the thirteen keys and nothing else. Throws body_invalid. */
export function parseDecisionEvent(bodyText: string): DecisionEvent {
  const body = parseBody(parseJson(bodyText));
  const { value, textOf } = hasNumberAtRisk(bodyText)
    ? exactJson(bodyText)
    : { value: body, textOf: JSON.stringify };
  const objects = value as Pick<DecisionBody, 'hint' | 'arguments'>;
  return {
    event_id: body.event_id.toLowerCase(),
    occurred_at: body.occurred_at,
    agent_name: body.agent_name,
    tool_name: body.tool_name,
    outcome: body.outcome,
    role: body.role ?? '',
    error_type: body.error_type || ERROR_TYPES[body.outcome],
    reason: body.reason ?? '',
    violations: body.violations ?? [],
    hint: jsonTextOf(objects.hint, textOf),
    arguments: jsonTextOf(objects.arguments, textOf),
    user_id: body.user_id ?? '',
    session_id: body.session_id ?? '',
  };
}

/** So deep that JSON.stringify runs out of stack: more than 8,192 bytes for certain, and refused for that by `admit`. */
const TOO_DEEP = ' '.repeat(16 * 1024);

function jsonTextOf(value: object | null | undefined, textOf: (value: object) => string): string {
  if (value === null || value === undefined) return '';
  try {
    return textOf(value);
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
}
