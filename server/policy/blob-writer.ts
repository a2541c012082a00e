import { utf8From } from '../../client/policy/language/index.ts';
import { BLOB_ADDRESS, HEAD_WORDS } from './blob-layout.ts';

/** A position in the pool of bytes. Its address is known once all words are written. */
export type PoolRef = { offset: number; length: number };

/**
 * Builds a blob: words (head, tables, conditions), then a pool of bytes that the words point into. Equal bytes are
 * pooled once.
 */
export class BlobWriter {
  readonly #words: number[] = Array.from({ length: HEAD_WORDS }, () => 0);
  readonly #poolWords: number[] = [];
  readonly #pool: Uint8Array[] = [];
  readonly #known = new Map<string, PoolRef>();
  #poolBytes = 0;

  /** The address of the next word. */
  get address(): number {
    return BLOB_ADDRESS + this.#words.length * 4;
  }

  word(value: number): void {
    this.#words.push(value >>> 0);
  }

  ref({ offset }: PoolRef): void {
    this.#poolWords.push(this.#words.length);
    this.#words.push(offset);
  }

  /** Sets a word that was written before its value was known. */
  patch(address: number, value: number): void {
    this.#words[(address - BLOB_ADDRESS) / 4] = value >>> 0;
  }

  head(offset: number, value: number): void {
    this.patch(BLOB_ADDRESS + offset, value);
  }

  headRef(offset: number, { offset: poolOffset }: PoolRef): void {
    this.#poolWords.push(offset / 4);
    this.head(offset, poolOffset);
  }

  text(text: string): PoolRef {
    return this.#intern(`text ${text}`, () => utf8From(text));
  }

  /** A text preceded by its length, as the runtime copies it into a result. */
  sizedText(text: string): PoolRef {
    return this.#intern(`sized ${text}`, () => {
      const bytes = utf8From(text);
      const sized = new Uint8Array(4 + bytes.length);
      new DataView(sized.buffer).setUint32(0, bytes.length, true);
      sized.set(bytes, 4);
      return sized;
    });
  }

  bytes(bytes: Uint8Array): PoolRef {
    return this.#intern(`bytes ${bytes.join()}`, () => bytes);
  }

  #intern(key: string, build: () => Uint8Array): PoolRef {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const bytes = build();
    const ref = { offset: this.#poolBytes, length: bytes.length };
    this.#pool.push(bytes);
    this.#poolBytes += bytes.length;
    this.#known.set(key, ref);
    return ref;
  }

  get byteLength(): number {
    return this.#words.length * 4 + this.#poolBytes;
  }

  toBytes(): Uint8Array {
    const bytes = new Uint8Array(this.byteLength);
    const view = new DataView(bytes.buffer);
    this.#words.forEach((word, index) => view.setUint32(index * 4, word, true));
    const poolAddress = this.address;
    for (const index of this.#poolWords)
      view.setUint32(index * 4, poolAddress + (this.#words[index] ?? 0), true);
    let at = this.#words.length * 4;
    for (const part of this.#pool) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }
}
