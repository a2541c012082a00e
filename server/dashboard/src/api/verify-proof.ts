import {
  parseVerifierKey,
  type ProofVerdict,
  type RecordProof,
  verifyRecordProof,
} from '../../../../client/proof/index.ts';

/** A separate module, which is loaded only when somebody verifies. `key`: a verifier key as text. */
export function verdictOf(proof: RecordProof, key: string): ProofVerdict {
  try {
    return verifyRecordProof(proof, parseVerifierKey(key));
  } catch {
    // The stored text is not a key, so nothing is proven.
    return { entry: false, inclusion: false, checkpoint: false };
  }
}
