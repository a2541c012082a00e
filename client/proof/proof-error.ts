/** A note, key, tile or proof that is malformed, or does not prove what it should. */
export class ProofError extends Error {
  override readonly name = 'ProofError';
}
