import {
  base64From,
  type Checkpoint,
  consistencyProof,
  cosignedAt,
  parseCheckpoint,
  parseVerifierKey,
  ProofError,
  type ReadTile,
  signaturesBy,
  type TreeHead,
  tilePath,
  verifyCheckpoint,
  verifyConsistency,
} from '../../../../../client/proof/index.ts';
import { nextTask } from '../../app/next-task.ts';
import type { LogWitness } from '../../api/types.ts';
import type { SeenCheckpoint } from './seen-checkpoints.ts';

/** `isInLog`: the current log begins with all entries of this checkpoint. */
export type CheckedCheckpoint = SeenCheckpoint & { size: number; root: string; isInLog: boolean };
/** `signedAt`: when the witness signed its largest checkpoint; undefined when it has signed none. */
export type CheckedWitness = {
  name: string;
  size: number;
  signedAt: string | undefined;
  fault: string | undefined;
};
export type LogVerdict = {
  /** The oldest first. The last one is the current checkpoint. */
  checkpoints: CheckedCheckpoint[];
  witnesses: CheckedWitness[];
};

type Given = {
  /** The current checkpoint, and when it was read. */
  current: SeenCheckpoint;
  logKey: string;
  seen: SeenCheckpoint[];
  witnesses: LogWitness[];
  /** Fetches a tile by its path. */
  fetchTile: (path: string) => Promise<Uint8Array>;
};

/**
 * Verifies from the tiles of the log that it extends every checkpoint seen before (RFC 6962 section 2.1.2), and verifies the cosignatures
 * of witnesses. Rejects if a tile cannot be fetched. A separate module, which is loaded only on this page.
 */
export async function verifyLog({ current, logKey, seen, witnesses, fetchTile }: Given): Promise<LogVerdict> {
  const head = parseCheckpoint(current.checkpoint);
  const tiles = new Map<string, Promise<Uint8Array>>();
  const readTile: ReadTile = (tile) => {
    const path = tilePath(tile);
    const reading = tiles.get(path) ?? fetchTile(path);
    tiles.set(path, reading);
    return reading;
  };
  const isInLog = (older: TreeHead) => isExtended(older, { head, readTile });
  const isSigned = isSignedBy(logKey, current.checkpoint);
  // On a phone, one signature takes long enough for its own task.
  await nextTask();
  const before = await Promise.all(
    seen.flatMap((one) => {
      const older = headOf(one.checkpoint);
      return older === undefined
        ? []
        : isInLog(older).then((holds) => checked(one, older, isSigned && holds));
    }),
  );
  const newest = before.at(-1);
  const isKnown = newest?.size === head.size && newest.root === base64From(head.root);
  return {
    checkpoints: isKnown ? before : [...before, checked(current, head, isSigned)],
    witnesses: await Promise.all(witnesses.map((one) => checkedWitness(one, isInLog))),
  };
}

function checked(seen: SeenCheckpoint, { size, root }: TreeHead, isInLog: boolean): CheckedCheckpoint {
  return { ...seen, size, root: base64From(root), isInLog };
}

async function isExtended(
  older: TreeHead,
  { head, readTile }: { head: TreeHead; readTile: ReadTile },
): Promise<boolean> {
  // Every log extends the empty one.
  if (older.size === 0) return true;
  if (older.size > head.size || older.origin !== head.origin) return false;
  const sizes = { fromSize: older.size, toSize: head.size };
  try {
    const proof = await consistencyProof(sizes, readTile);
    return verifyConsistency({ ...sizes, fromRoot: older.root, toRoot: head.root, proof });
  } catch (error) {
    if (error instanceof ProofError) return false;
    throw error;
  }
}

async function checkedWitness(
  { name, vkey, size, checkpoint }: LogWitness,
  isInLog: (older: TreeHead) => Promise<boolean>,
): Promise<CheckedWitness> {
  const witness = { name, size, signedAt: undefined, fault: undefined };
  if (checkpoint === null)
    return size === 0 ? witness : { ...witness, fault: 'It signed more entries than the log has now' };
  const note = headOf(checkpoint);
  const seconds = note && cosignedSeconds(note, vkey);
  if (note === undefined || seconds === undefined)
    return { ...witness, fault: 'Its signature does not hold' };
  const signedAt = new Date(seconds * 1000).toISOString();
  return { ...witness, signedAt, fault: (await isInLog(note)) ? undefined : 'It signed another history' };
}

/** When a witness last signed a checkpoint; undefined without a valid signature. */
function cosignedSeconds(note: Checkpoint, vkey: string): number | undefined {
  try {
    const times = signaturesBy(parseVerifierKey(vkey), note).map(
      ({ signature }) => cosignedAt(signature) ?? 0,
    );
    return times.length === 0 ? undefined : Math.max(...times);
  } catch {
    return undefined;
  }
}

function headOf(text: string): Checkpoint | undefined {
  try {
    return parseCheckpoint(text);
  } catch {
    return undefined;
  }
}

function isSignedBy(logKey: string, text: string): boolean {
  try {
    verifyCheckpoint(text, parseVerifierKey(logKey));
    return true;
  } catch {
    return false;
  }
}
