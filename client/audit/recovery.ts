import { messageOf } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { Emitter, type Totals } from './emitter.ts';
import type { AbandonedJournal, Journals } from './journal.ts';
import { nextTurn } from './loop.ts';
import type { Outbox, OutboxDeps } from './outbox.ts';
import { Outcomes } from './outcomes.ts';

type RecoveryDeps = {
  target: readonly string[];
  path: string;
  logger: Logger;
  /** Sends the events of this sender in batches. */
  outboxOf: (sender: Pick<OutboxDeps, 'emitter' | 'outcomes'>) => Outbox;
  /** Reports a sender's totals to the service; false if it does not answer. */
  report: (emitterId: string, totals: Totals) => Promise<boolean>;
};

/**
 * Sends the events that earlier processes left in their journals, with the same numbers, then reports their totals. Events that are
 * already stored change nothing. Those that do not arrive are left for the next start; those that the service rejects are not. Never
 * rejects.
 */
export async function recover(journals: Journals, deps: RecoveryDeps): Promise<void> {
  const { logger, path, target } = deps;
  await nextTurn();
  try {
    for (const journal of journals.abandoned(target)) {
      const outcomes = new Outcomes({ path, logger, isKeeping: () => true });
      const resent = await resend(journal, outcomes, deps);
      const { sent, failed } = outcomes.counts();
      // An event may have been rejected before and again now.
      const totals = { ...resent, failed: Math.max(resent.failed, outcomes.tally().failed) };
      logger.info('Sent the audit events that an earlier process left', { path, sent, failed });
      if (outcomes.kept === 0 && (await deps.report(journal.emitter, totals))) journal.remove();
    }
  } catch (error) {
    logger.warn('The journals of audit events cannot be read', { problem: messageOf(error) });
  }
}

async function resend(
  journal: AbandonedJournal,
  outcomes: Outcomes,
  { outboxOf }: RecoveryDeps,
): Promise<Totals> {
  const outbox = outboxOf({ outcomes, emitter: new Emitter(() => outcomes.tally(), journal.emitter) });
  let totals: Totals = { emitted: 0, dropped: 0, failed: 0 };
  for (const lines of journal.files()) {
    for (const { text, ...line } of lines) {
      totals = line;
      if (text !== '') outbox.tryAdd(() => text, { sequence: line.emitted, dropped: line.dropped });
    }
    await outbox.drain();
  }
  return totals;
}
