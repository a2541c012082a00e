import type { Response } from 'express';
import type { Static } from 'typebox';
import { problemFrom } from '../http/error-handler.ts';
import type { Item } from '../http/read-items.ts';
import type { KeyIdentity } from '../keys/bearer-keys.ts';
import { createParser } from '../validate.ts';
import type { Event } from './event.ts';
import { lineEndFrom, lineStartFrom } from './event-row.ts';
import { ledgersOf, NO_LEDGER } from './ledger.ts';
import { countProblem, type EventKind, type IngestDeps } from './ingest.ts';
import { type BATCH_ANSWER, Judgement } from './judgement.ts';
import { wantsReceipt } from './receipts.ts';

type BatchCall = {
  res: Response;
  caller: KeyIdentity;
  readonly sinceMs: number;
  readItems: (onItem: (item: Item) => void) => Promise<void>;
};

/** Like `createIngest`, for many events: judges each separately, and writes those that pass together. */
export function createBatchIngest<Body extends object, E extends Event>(
  { latestVersionId, now }: IngestDeps,
  kind: EventKind<Body, E>,
) {
  const parse = createParser<Body>(kind.schema);
  return async (call: BatchCall): Promise<Static<typeof BATCH_ANSWER>> => {
    const { project_id } = call.caller;
    const judgement = new Judgement({ parse, kind, caller: call.caller });
    await call.readItems((item) => judgement.take(item));
    const receivedAtMs = now();
    const passed = judgement.judgeTimes(receivedAtMs);
    try {
      const lineStarts = new Map<string, string>();
      for (const { agent_name } of passed) {
        if (lineStarts.has(agent_name)) continue;
        const agent_version_id = await latestVersionId(project_id, agent_name);
        lineStarts.set(agent_name, lineStartFrom({ project_id, agent_version_id, receivedAtMs }));
      }
      const ledgerAt = ledgersOf(call.res.req.headers, judgement.events);
      const entries = passed.map(({ index, event_id, occurredAtMs, agent_name, text }) => ({
        identity: { project_id, event_id, occurredAtMs, receivedAtMs },
        line: `${lineStarts.get(agent_name)}${text}${lineEndFrom(ledgerAt?.(index) ?? NO_LEDGER, kind.row)}`,
      }));
      if (entries.length > 0) judgement.settle(await kind.commit.writeAll(entries, call.sinceMs));
    } catch (error) {
      // None is acknowledged. The edge counts the first of them.
      countProblem(kind.counter, problemFrom(error).code, judgement.events - 1);
      throw error;
    }
    const result = judgement.result();
    if (result.rejected.length > 0) call.res.statusCode = 207;
    if (kind.receipts === undefined || !wantsReceipt(call.res.req)) return result;
    const recorded = judgement.recorded(project_id);
    const receipts = await kind.receipts.of(recorded, call.sinceMs);
    return {
      ...result,
      receipts: recorded.map(({ index }, place) => ({ index, receipt: receipts[place] as string })),
    };
  };
}
