import type { Response } from 'express';
import type { Counter } from 'prom-client';
import type { TObject } from 'typebox';
import type { GroupCommit } from '../commit/group-commit.ts';
import { type ProblemCode, PROBLEMS } from '../errors.ts';
import type { KeyIdentity } from '../keys/bearer-keys.ts';
import { admitTime } from './admit.ts';
import type { Event } from './event.ts';
import { entryFrom, type RowKind } from './event-row.ts';
import { type Receipts, wantsReceipt } from './receipts.ts';
import { ledgerOf } from './ledger.ts';

/** The result of an event, as the counters of ingest record it. */
export const INGEST_RESULTS = [
  'accepted',
  'duplicate',
  'unauthenticated',
  'body_invalid',
  'occurred_at_out_of_range',
  'too_large',
  'row_rejected',
  'store_unavailable',
  'overloaded',
] as const;

export type IngestDeps = {
  /** The id of the latest version of an agent, '' if it is not registered. */
  latestVersionId: (projectId: string, agentName: string) => string | Promise<string>;
  now: () => number;
};

/** The differences between the kinds of events. */
export type EventKind<Body, E extends Event> = {
  schema: TObject;
  eventFrom: (body: Body, bodyText: string) => E;
  row: RowKind<E>;
  commit: GroupCommit;
  counter: Counter<'result'>;
  /** Checks that follow the check of the time. */
  admit?: (event: E) => void;
  /** Accepted events are counted by their outcome, if they have one. */
  written?: { counter: Counter<'outcome'>; outcomeOf: (event: E) => string };
  /** For events that enter the log. */
  receipts?: Receipts;
};

type IngestCall<Body> = { res: Response; caller: KeyIdentity; body: Body; text: string; sinceMs: number };

/** Checks the time, then the sizes; looks up the agent's version; writes the row; answers when it is durable. */
export function createIngest<Body, E extends Event>(
  { latestVersionId, now }: IngestDeps,
  { eventFrom, row, commit, counter, admit, written, receipts }: EventKind<Body, E>,
) {
  return async ({ res, caller: { project_id }, body, text, sinceMs }: IngestCall<Body>) => {
    const event = eventFrom(body, text);
    const receivedAtMs = now();
    admitTime(event, receivedAtMs);
    admit?.(event);
    const agent_version_id = await latestVersionId(project_id, event.agent_name);
    const ledger = ledgerOf(res.req.headers);
    const entry = entryFrom(event, { project_id, agent_version_id, receivedAtMs, ledger }, row);
    const result = await commit.write(entry, sinceMs);
    counter.inc({ result });
    if (result === 'accepted') written?.counter.inc({ outcome: written.outcomeOf(event) });
    if (receipts !== undefined && wantsReceipt(res.req)) {
      const [receipt = ''] = await receipts.of([entry.identity], sinceMs);
      res.setHeader('Gate-Receipt', receipt);
    }
    return sendAccepted(res, event.event_id);
  };
}

/** Written by hand: Express's own res.json takes several times as long. The body is ASCII, and Latin-1 is the fastest to write. */
function sendAccepted(res: Response, eventId: string): undefined {
  const body = `{"event_id":"${eventId}"}`;
  res.writeHead(202, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
  res.end(body, 'latin1');
}

/** Counts events with a problem by its result. A bug has no label: it is a 500 in gate_http_request_duration_seconds. */
export function countProblem(counter: Counter<'result'>, code: ProblemCode, events = 1): void {
  const isTooLarge = PROBLEMS[code].status === 413;
  const result = isTooLarge ? 'too_large' : INGEST_RESULTS.find((one) => one === code);
  if (result !== undefined) counter.inc({ result }, events);
}
