import { isUtf8 } from 'node:buffer';
import { CommandError } from '../command-error.ts';
import { linesOf } from './lines.ts';
import { fieldsOfLine, type RecordFields } from './record-line.ts';

/** A line of `…/export/proofs`. index: null until the record is in the log. */
export type ProofLine = { event_id: string; index: number | null; salt: string };
/** A line of an export. fields: undefined if no record can have it. proof: undefined if the proofs have no line for it. */
type JoinedRecord = { line: Buffer; fields: RecordFields | undefined; proof: ProofLine | undefined };

/**
 * The records of an export, each with its proof. Both files have the same order, so few lines wait for the other file. Throws a
 * CommandError for malformed proofs.
 */
export function* joinProofs(exportPath: string, proofsPath: string): Generator<JoinedRecord> {
  const records = new Waiting<Omit<JoinedRecord, 'proof'>>();
  const proofs = new Waiting<ProofLine>();
  const proofLines = linesOf(proofsPath);
  for (const line of linesOf(exportPath)) {
    if (line.length === 0) continue;
    const fields = fieldsOfLine(line);
    const record = { line, fields };
    const proof = nextProof(proofLines);
    if (proof !== undefined && proof.event_id === fields?.event_id && proofs.isEmpty && records.isEmpty) {
      yield { ...record, proof };
      continue;
    }
    records.add(fields?.event_id ?? '', record);
    if (proof !== undefined) proofs.add(proof.event_id, proof);
    yield* pairsOf(records, proofs, [fields?.event_id, proof?.event_id]);
  }
  for (let proof = nextProof(proofLines); proof !== undefined; proof = nextProof(proofLines)) {
    proofs.add(proof.event_id, proof);
    yield* pairsOf(records, proofs, [proof.event_id]);
  }
  for (const record of records.all()) yield { ...record, proof: undefined };
}

function* pairsOf(
  records: Waiting<Omit<JoinedRecord, 'proof'>>,
  proofs: Waiting<ProofLine>,
  ids: (string | undefined)[],
): Generator<JoinedRecord> {
  for (const id of new Set(ids)) {
    if (id === undefined || !records.has(id) || !proofs.has(id)) continue;
    const record = records.take(id);
    if (record !== undefined) yield { ...record, proof: proofs.take(id) };
  }
}

function nextProof(lines: Generator<Buffer>): ProofLine | undefined {
  for (let next = lines.next(); next.done !== true; next = lines.next())
    if (next.value.length > 0) return parseProofLine(textOf(next.value));
  return undefined;
}

function textOf(line: Buffer): string {
  if (isUtf8(line)) return line.toString();
  throw new CommandError('The proofs have a line that is not UTF-8');
}

function parseProofLine(text: string): ProofLine {
  const { event_id, index, salt } = objectFrom(text);
  const isIndex = index === null || (Number.isSafeInteger(index) && Number(index) >= 0);
  if (typeof event_id === 'string' && event_id !== '' && isIndex && typeof salt === 'string')
    return { event_id, index: index as number | null, salt };
  throw new CommandError(`The proofs have a line without event_id, index and salt: ${text.slice(0, 200)}`);
}

function objectFrom(text: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch {
    throw new CommandError(`The proofs have a line that is not JSON: ${text.slice(0, 200)}`);
  }
}

/** Items that wait for their counterpart, first come first served per id. */
class Waiting<T> {
  readonly #items = new Map<string, T[]>();

  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  has(id: string): boolean {
    return this.#items.has(id);
  }

  add(id: string, item: T): void {
    const items = this.#items.get(id);
    if (items === undefined) this.#items.set(id, [item]);
    else items.push(item);
  }

  take(id: string): T | undefined {
    const items = this.#items.get(id) ?? [];
    const item = items.shift();
    if (items.length === 0) this.#items.delete(id);
    return item;
  }

  *all(): Generator<T> {
    for (const items of this.#items.values()) yield* items;
  }
}
