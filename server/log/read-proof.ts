import { base64From, type RecordProof } from '../../client/proof/index.ts';
import { RequestError } from '../errors.ts';
import { PROOF_RETRY_AFTER_SECONDS } from '../limits.ts';
import { findDecisionLine } from '../records/find-decision.ts';
import { rfc3339FromClickhouse } from '../store/time.ts';
import type { RunRead } from '../records/days.ts';
import type { ProjectLog } from './project-log.ts';

type Wanted = Parameters<typeof findDecisionLine>[1];

/** Proves that a record is in the log as it stands. Throws not_found, and proof_pending before it entered. */
export async function readProof(
  { runRead, log }: { runRead: RunRead; log: ProjectLog },
  wanted: Wanted,
): Promise<RecordProof> {
  const [found, lately] = await Promise.all([findDecisionLine({ runRead }, wanted), log.lately()]);
  if (found === undefined) throw new RequestError('not_found', 'There is no record with this event_id');
  const { event_id, received_at, line, salt, entry } = found;
  const place = { entry: Buffer.from(entry, 'base64'), receivedAt: rfc3339FromClickhouse(received_at) };
  const index = await log.store.indexOf(wanted.projectId, place);
  if (index === undefined) throw pending();
  const { size, checkpoint } = index < lately.size ? lately : await log.newest();
  if (index >= size) throw pending();
  const inclusion = await log.inclusion(index, size);
  return {
    event_id,
    index,
    entry,
    salt,
    line,
    tree_size: size,
    inclusion: inclusion.map(base64From),
    checkpoint,
  };
}

function pending(): RequestError {
  return new RequestError('proof_pending', 'The record has not entered the log yet. It takes some seconds', {
    headers: { 'Retry-After': String(PROOF_RETRY_AFTER_SECONDS) },
  });
}
