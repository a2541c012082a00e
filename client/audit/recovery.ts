import { messageOf } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { Emitter, type Totals } from './emitter.ts';
import type { AbandonedJournal, Journals } from './journal.ts';
import { nextTurn } from './loop.ts';
import type { BatchPosts } from './batch-posts.ts';
import type { OutboxDeps } from './outbox.ts';
import { Outcomes } from './outcomes.ts';

type RecoveryDeps = {
  target: readonly string[];
  path: string;
  logger: Logger;
  /** Sends the events of this sender in batches. */
  batchPostsOf: (sender: Pick<OutboxDeps, 'emitter' | 'outcomes'>) => BatchPosts;
  /** Reports a sender's totals to the service; false if it does not answer. */
  report: (emitterId: string, totals: Totals) => Promise<boolean>;
};

/**
 * Sends the events that earlier processes left in their journals, with the same numbers, then reports their totals. Sending events that are
 * already stored changes nothing. Events that do not arrive are sent again until this process ends, and then left for the next start.
 * Rejected events are not sent again. Never rejects.
 */
export async function recover(journals: Journals, deps: RecoveryDeps): Promise<void> {
  const { logger, path, target } = deps;
  await nextTurn();
  try {
    for (const journal of journals.abandoned(target)) {
      const outcomes = new Outcomes({ path, logger, isKeeping: () => true });
      const resent = await resend(journal, outcomes, deps);
      if (resent === undefined) return;
      const { sent, failed } = outcomes.counts();
      // An event may have been rejected before and again now.
      const totals = { ...resent, failed: Math.max(resent.failed, failed) };
      logger.info('Sent the audit events that an earlier process left', { path, sent, failed });
      if (await deps.report(journal.emitter, totals)) journal.remove();
    }
  } catch (error) {
    logger.warn('The journals of audit events cannot be read', { problem: messageOf(error) });
  }
}

/** The totals including the last event; undefined if the process ends before all have arrived. */
async function resend(
  journal: AbandonedJournal,
  outcomes: Outcomes,
  { batchPostsOf }: RecoveryDeps,
): Promise<Totals | undefined> {
  const outbox = batchPostsOf({ outcomes, emitter: new Emitter(() => outcomes.counts(), journal.emitter) });
  let totals: Totals = { emitted: 0, dropped: 0, failed: 0 };
  for (const lines of journal.files()) {
    for (const { text, ...line } of lines) {
      totals = line;
      if (text !== '') outbox.tryAdd(() => text, { sequence: line.emitted, dropped: line.dropped });
    }
    await outbox.drainPatiently();
    if (outbox.size > 0) return undefined;
  }
  return totals;
}
