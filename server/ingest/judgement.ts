import type { Static } from 'typebox';
import { requireAgent } from '../access/access.ts';
import type { RowResult } from '../commit/write-queue.ts';
import { RequestError } from '../errors.ts';
import { problemFrom } from '../http/error-handler.ts';
import { PROBLEM } from '../http/problem.ts';
import type { Item } from '../http/read-items.ts';
import { answer, COUNT, nullable } from '../http/schemas.ts';
import type { KeyIdentity } from '../keys/bearer-keys.ts';
import { admitTime } from './admit.ts';
import { type Event, UUID_TEXT } from './event.ts';
import { eventTextFrom } from './event-row.ts';
import { countProblem, type EventKind } from './ingest.ts';
import type { RecordedEvent } from './receipts.ts';
import { Type } from '../type.ts';

const { status, code, detail, errors } = PROBLEM.properties;

const REJECTED = answer(
  {
    index: Type.Integer({ minimum: 0, description: 'The place of the event in the batch, from 0' }),
    event_id: nullable<string>('string', { description: 'null when the event has no valid one' }),
    status,
    code,
    detail,
    errors,
  },
  'RejectedEvent',
);

export const BATCH_ANSWER = answer(
  {
    accepted: COUNT,
    duplicates: COUNT,
    rejected: Type.Array(REJECTED),
    receipts: Type.Optional(
      Type.Array(
        answer({ index: COUNT, receipt: Type.String({ description: 'A compact JWS' }) }, 'Receipt'),
        { description: 'One for each event that was not rejected, if requested' },
      ),
    ),
  },
  'BatchResult',
);

type Rejected = Static<typeof REJECTED>;

/** An event that may be written if its time is accepted, which is judged when the whole batch has arrived. */
type Candidate = Pick<Event, 'event_id' | 'occurred_at' | 'occurredAtMs' | 'agent_name'> & {
  index: number;
  outcome: string;
  /** Of the line of its row: see `eventTextFrom`. */
  text: string;
  /** Counts only if the time is valid: the check of the time comes first. */
  fault: RequestError | undefined;
};

type JudgementOptions<Body, E extends Event> = {
  parse: (value: unknown) => Body;
  kind: EventKind<Body, E>;
  caller: KeyIdentity;
};

/** Judges the events of one batch, each separately and by the rules of single events, and counts them. */
export class Judgement<Body extends object, E extends Event> {
  readonly #options: JudgementOptions<Body, E>;
  #candidates: Candidate[] = [];
  #rejected: Rejected[] = [];
  #accepted = 0;
  #duplicates = 0;
  #results: RowResult[] = [];
  /** All events so far. */
  events = 0;

  constructor(options: JudgementOptions<Body, E>) {
    this.#options = options;
  }

  /** Takes the next event. Keeps little more of it than the line of its row. */
  take(item: Item): void {
    const index = this.events;
    this.events += 1;
    try {
      this.#candidates.push(this.#candidateFrom(item, index));
    } catch (error) {
      this.#reject(index, eventIdOf(item.value), error);
    }
  }

  #candidateFrom({ value, text, fault }: Item, index: number): Candidate {
    if (fault !== undefined) throw fault;
    const { parse, kind, caller } = this.#options;
    const event = kind.eventFrom(parse(value), text);
    const { event_id, occurred_at, occurredAtMs, agent_name } = event;
    requireAgent(caller, agent_name);
    const outcome = kind.written?.outcomeOf(event) ?? '';
    const candidate = { index, event_id, occurred_at, occurredAtMs, agent_name, outcome };
    try {
      kind.admit?.(event);
    } catch (error) {
      return { ...candidate, text: '', fault: problemFrom(error) };
    }
    return { ...candidate, text: eventTextFrom(event, kind.row), fault: undefined };
  }

  /** Returns the events that may be written. */
  judgeTimes(receivedAtMs: number): Candidate[] {
    this.#candidates = this.#candidates.filter((event) => {
      try {
        admitTime(event, receivedAtMs);
        if (event.fault === undefined) return true;
        throw event.fault;
      } catch (error) {
        this.#reject(event.index, event.event_id, error);
        return false;
      }
    });
    return this.#candidates;
  }

  /** Takes the outcome of each event that `judgeTimes` returned. */
  settle(results: RowResult[]): void {
    const accepted = new Map<string, number>();
    this.#results = results;
    results.forEach((result, place) => {
      const { index, event_id, outcome } = this.#candidates[place] as Candidate;
      if (result === 'duplicate') this.#duplicates += 1;
      else if (result === 'accepted') accepted.set(outcome, (accepted.get(outcome) ?? 0) + 1);
      else this.#reject(index, event_id, result);
    });
    for (const [outcome, events] of accepted) {
      this.#accepted += events;
      this.#options.kind.written?.counter.inc({ outcome }, events);
    }
  }

  /** The events that are records, or whose identity another record has. */
  recorded(project_id: string): (RecordedEvent & { index: number })[] {
    return this.#candidates
      .filter((_, place) => typeof this.#results[place] === 'string')
      .map(({ index, event_id, occurredAtMs }) => ({ index, project_id, event_id, occurredAtMs }));
  }

  /** The answer. Counts the events by their results. */
  result(): Static<typeof BATCH_ANSWER> {
    const { counter } = this.#options.kind;
    const [accepted, duplicates] = [this.#accepted, this.#duplicates];
    if (accepted > 0) counter.inc({ result: 'accepted' }, accepted);
    if (duplicates > 0) counter.inc({ result: 'duplicate' }, duplicates);
    for (const { code } of this.#rejected) countProblem(counter, code);
    return { accepted, duplicates, rejected: this.#rejected.sort((a, b) => a.index - b.index) };
  }

  /** A bug does not reject an event: it fails the request. */
  #reject(index: number, event_id: string | null, error: unknown): void {
    const { status, code, message: detail, errors } = problemFrom(error);
    if (code === 'internal') throw error;
    this.#rejected.push({
      index,
      event_id,
      status,
      code,
      detail,
      ...(errors === undefined ? {} : { errors }),
    });
  }
}

/** The folded event_id of an event that was refused, if it has a valid one. */
function eventIdOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('event_id' in value)) return null;
  const { event_id } = value;
  return typeof event_id === 'string' && UUID_TEXT.test(event_id) ? event_id.toLowerCase() : null;
}
