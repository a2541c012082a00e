import { areEqual, base64From, bytesFromStrictBase64, numberFromDecimal } from './bytes.ts';
import { EMPTY_ROOT, HASH_BYTES } from './merkle-tree.ts';
import { ProofError } from './proof-error.ts';
import { parseNote, type SignedNote, signaturesBy } from './signed-note.ts';
import type { VerifierKey } from './verifier-key.ts';

/** The head of a log: its name, how many leaves it has, and their root. */
export type TreeHead = { origin: string; size: number; root: Uint8Array };
/** A signed tree head (C2SP tlog-checkpoint). */
export type Checkpoint = TreeHead & SignedNote;

/** The text that a log signs. */
export function checkpointBody({ origin, size, root }: TreeHead): string {
  return `${origin}\n${size}\n${base64From(root)}\n`;
}

/** Throws a ProofError for a text that is not a checkpoint. The signatures are not verified. */
export function parseCheckpoint(text: string): Checkpoint {
  const note = parseNote(text);
  const [origin = '', sizeText = '', rootText = '', ...extensions] = note.body.split('\n');
  const size = numberFromDecimal(sizeText);
  const root = bytesFromStrictBase64(rootText);
  // The body ends with a newline, so the last part is empty, and no other may be.
  const isWhole = extensions.pop() === '' && extensions.every((line) => line !== '');
  if (!isWhole || origin === '' || size === undefined || root?.length !== HASH_BYTES)
    throw new ProofError('The text is not a checkpoint: origin, size and root, each on a line');
  if (size === 0 && !areEqual(root, EMPTY_ROOT))
    throw new ProofError('The root of a checkpoint of size 0 is not that of an empty tree');
  return { ...note, origin, size, root };
}

/** Parses the checkpoint of the log with this key. Throws a ProofError when the log did not sign it, or it is another log's. */
export function verifyCheckpoint(text: string, key: VerifierKey): Checkpoint {
  const checkpoint = parseCheckpoint(text);
  if (checkpoint.origin !== key.name)
    throw new ProofError(`The checkpoint is of ${checkpoint.origin}, not of ${key.name}`);
  if (signaturesBy(key, checkpoint).length === 0)
    throw new ProofError(`The checkpoint is not signed by ${key.name} with the key that is trusted`);
  return checkpoint;
}
