import { base64From, type RecordProof } from '../../client/proof/index.ts';
import { RequestError } from '../errors.ts';
import { PROOF_RETRY_AFTER_SECONDS } from '../limits.ts';
import { findDecisionLine, type Place, placesOf } from '../records/find-decision.ts';
import { rfc3339FromClickhouse } from '../store/time.ts';
import { HASH_BYTES } from './subtrees.ts';
import type { LogPiece } from './log-store.ts';
import type { RunRead } from '../store/read-pool.ts';
import type { ProjectLog } from './project-log.ts';

type Wanted = Parameters<typeof findDecisionLine>[1];

/** Proves that a record is in the log unchanged. Throws not_found, and proof_pending before it has entered. */
export async function readProof(
  { runRead, log }: { runRead: RunRead; log: ProjectLog },
  wanted: Wanted,
): Promise<RecordProof> {
  const places = await placesOf({ runRead }, wanted);
  const [found, pieces, recent] = await Promise.all([
    findDecisionLine({ runRead }, { ...wanted, places }),
    piecesOf(log, wanted.projectId, places),
    log.recent(),
  ]);
  if (found === undefined) throw new RequestError('not_found', 'There is no record with this event_id');
  const { line, salt, entry } = found;
  const index =
    indexIn(pieces, entry) ??
    (await log.store.indexOf(wanted.projectId, {
      entry,
      receivedAt: rfc3339FromClickhouse(found.received_at),
    }));
  if (index === undefined) throw pending();
  const { size, checkpoint } = index < recent.size ? recent : await log.newest();
  if (index >= size) throw pending();
  for (const piece of pieces) log.know(piece, { index, size });
  const inclusion = await log.inclusion(index, size);
  return {
    event_id: wanted.eventId.toLowerCase(),
    index,
    entry: base64From(entry),
    salt: base64From(salt),
    line,
    tree_size: size,
    inclusion: inclusion.map(base64From),
    checkpoint,
  };
}

/**
 * The entries that were logged when the record was received. They are read in parallel with the record, before the wanted entry is known.
 */
function piecesOf(log: ProjectLog, projectId: string, places: readonly Place[]): Promise<LogPiece[]> {
  const times = places.map(({ received_at }) => received_at).sort();
  const [from, to] = [times[0], times.at(-1)];
  return from === undefined || to === undefined
    ? Promise.resolve([])
    : log.store.piecesAt(projectId, { from, to });
}

function indexIn(pieces: LogPiece[], entry: Uint8Array): number | undefined {
  for (const { from, entries } of pieces) {
    for (let at = entries.indexOf(entry); at >= 0; at = entries.indexOf(entry, at + 1))
      if (at % HASH_BYTES === 0) return from + at / HASH_BYTES;
  }
  return undefined;
}

function pending(): RequestError {
  return new RequestError(
    'proof_pending',
    'The record has not entered the log yet. Try again in a few seconds',
    {
      headers: { 'Retry-After': String(PROOF_RETRY_AFTER_SECONDS) },
    },
  );
}
