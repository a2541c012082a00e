import {
  base64From,
  type NoteSignature,
  parseCheckpoint,
  parseSignatures,
  signaturesBy,
} from '../../client/proof/index.ts';
import type { Witness } from '../config-values.ts';
import { WITNESS_ANSWER_CHARS_MAX, WITNESS_MS_MAX } from '../limits.ts';

/** An offer of a log to a witness: its signed checkpoint, and the proof that it extends the one of `oldSize`. */
type Offer = { oldSize: number; proof: readonly Uint8Array[]; checkpoint: string };
/** `at_size`: the witness has another size than `oldSize`. */
export type WitnessAnswer =
  | { kind: 'cosigned'; signature: NoteSignature }
  | { kind: 'at_size'; size: number }
  | { kind: 'refused'; status: number };

/** The body of add-checkpoint (C2SP tlog-witness). */
export function offerText({ oldSize, proof, checkpoint }: Offer): string {
  return `old ${oldSize}\n${proof.map((hash) => `${base64From(hash)}\n`).join('')}\n${checkpoint}`;
}

/**
 * Offers a checkpoint to a witness, and verifies its cosignature. Rejects if the witness does not answer, or its answer violates the
 * protocol, such as an invalid signature.
 */
export async function addCheckpoint(
  { url, key }: Witness,
  offer: Offer,
  signal: AbortSignal,
): Promise<WitnessAnswer> {
  const response = await fetch(`${url.href.replace(/\/+$/, '')}/add-checkpoint`, {
    method: 'POST',
    body: offerText(offer),
    headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(WITNESS_MS_MAX)]),
  });
  const text = await textOf(response);
  if (response.status === 409) {
    const size = /^(0|[1-9]\d{0,15})\n$/.exec(text)?.[1];
    if (size === undefined) throw new Error('The witness answered 409 without a size');
    return { kind: 'at_size', size: Number(size) };
  }
  if (response.status !== 200) return { kind: 'refused', status: response.status };
  const { body } = parseCheckpoint(offer.checkpoint);
  const [signature] = signaturesBy(key, { body, signatures: parseSignatures(text) });
  if (signature === undefined) throw new Error('The witness answered without a signature of its key');
  return { kind: 'cosigned', signature };
}

async function textOf({ body }: Response): Promise<string> {
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream('utf-8', { fatal: true })) ?? []) {
    text += chunk;
    if (text.length > WITNESS_ANSWER_CHARS_MAX) throw new Error('The answer of the witness is too long');
  }
  return text;
}
