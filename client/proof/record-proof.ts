import { areEqual, bytesFromStrictBase64 } from './bytes.ts';
import { parseCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import { entryOf, leafHash } from './merkle-tree.ts';
import { ProofError } from './proof-error.ts';
import type { VerifierKey } from './verifier-key.ts';
import { verifyInclusion } from './verify-proof.ts';

const SALT_BYTES = 16;

/** The answer of `…/audit/decisions/{event_id}/proof`. Hashes and salt in standard base64. */
export type RecordProof = {
  event_id: string;
  index: number;
  entry: string;
  salt: string;
  line: string;
  tree_size: number;
  inclusion: string[];
  checkpoint: string;
};

/** Which checks of a proof succeed. Together they prove that the log with this key holds the record exactly as in `line`. */
export type ProofVerdict = {
  /** The entry is the hash of salt and line, and the line is of this event. */
  entry: boolean;
  /** The entry is in the tree of the checkpoint, at this index. */
  inclusion: boolean;
  /** The log with this key signed the checkpoint. */
  checkpoint: boolean;
};

/** Verifies a proof with nothing but the key of the log. Never throws, whatever the proof contains. */
export function verifyRecordProof(proof: RecordProof, key: VerifierKey): ProofVerdict {
  const check = (part: () => boolean): boolean => {
    try {
      return part();
    } catch {
      // Malformed, so nothing is proven.
      return false;
    }
  };
  return {
    entry: check(() => {
      const { event_id } = JSON.parse(proof.line) as { event_id?: unknown };
      return (
        event_id === proof.event_id &&
        bytes(proof.salt).length === SALT_BYTES &&
        areEqual(entryOf(bytes(proof.salt), proof.line), bytes(proof.entry))
      );
    }),
    inclusion: check(() => {
      const { size, root } = parseCheckpoint(proof.checkpoint);
      const leaf = leafHash(bytes(proof.entry));
      const inclusion = proof.inclusion.map(bytes);
      return (
        size === proof.tree_size &&
        verifyInclusion({ index: proof.index, size, leaf, proof: inclusion, root })
      );
    }),
    checkpoint: check(() => verifyCheckpoint(proof.checkpoint, key).size === proof.tree_size),
  };
}

function bytes(base64: string): Uint8Array {
  const decoded = bytesFromStrictBase64(base64);
  if (decoded === undefined) throw new ProofError('The text is not base64');
  return decoded;
}
