/** 16 bits per key and 6 probes: about one false positive in 1,000 keys. */
const BITS_PER_KEY = 16;
const PROBES = 6;

/** The four 32-bit words of a UUID. */
export type UuidWords = readonly [number, number, number, number];

/** A Bloom filter of fixed size (Bloom 1970), with double hashing (Kirsch and Mitzenmacher 2006). */
class Filter {
  readonly keysMax: number;
  readonly #bits: Uint32Array;
  keys = 0;

  constructor(keysMax: number) {
    this.keysMax = keysMax;
    this.#bits = new Uint32Array(Math.ceil((keysMax * BITS_PER_KEY) / 32));
  }

  get bytes(): number {
    return this.#bits.byteLength;
  }

  add(h1: number, h2: number): void {
    this.keys += 1;
    const bits = this.#bits;
    const size = bits.length * 32;
    for (let probe = 0; probe < PROBES; probe += 1) {
      const bit = ((h1 + Math.imul(probe, h2)) >>> 0) % size;
      bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  }

  has(h1: number, h2: number): boolean {
    const bits = this.#bits;
    const size = bits.length * 32;
    for (let probe = 0; probe < PROBES; probe += 1) {
      const bit = ((h1 + Math.imul(probe, h2)) >>> 0) % size;
      if (((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }
}

type GrowingFilterOptions = { keysFirst: number; bytesMax: number };

/**
 * A scalable Bloom filter (Almeida et al. 2007): it grows by adding filters, each twice as large as the one before. Beyond
 * `bytesMax`, `isComplete` becomes false for good and `mayHave` is true for every key.
 */
export class GrowingFilter {
  /** The smallest first. Keys are added to the last one. */
  readonly #filters: Filter[];
  readonly #bytesMax: number;
  #newest: Filter;
  isComplete = true;

  constructor({ keysFirst, bytesMax }: GrowingFilterOptions) {
    this.#newest = new Filter(keysFirst);
    this.#filters = [this.#newest];
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#filters.reduce((sum, filter) => sum + filter.bytes, 0);
  }

  add(seed: number, words: UuidWords): void {
    if (!this.isComplete) return;
    if (this.#newest.keys >= this.#newest.keysMax) {
      const keysMax = this.#newest.keysMax * 2;
      if (this.bytes + (keysMax * BITS_PER_KEY) / 8 > this.#bytesMax) {
        this.isComplete = false;
        this.#filters.length = 0;
        return;
      }
      this.#newest = new Filter(keysMax);
      this.#filters.push(this.#newest);
    }
    this.#newest.add(hash(seed, words), hash(~seed, words) | 1);
  }

  /** False only when the key was never added. */
  mayHave(seed: number, words: UuidWords): boolean {
    if (!this.isComplete) return true;
    const h1 = hash(seed, words);
    const h2 = hash(~seed, words) | 1;
    return this.#filters.some((filter) => filter.has(h1, h2));
  }
}

/** The 32-bit MurmurHash3 (Appleby 2011) of the four words. */
function hash(seed: number, words: UuidWords): number {
  let h = seed | 0;
  for (const word of words) {
    let k = Math.imul(word, 0xcc9e2d51);
    k = (k << 15) | (k >>> 17);
    h ^= Math.imul(k, 0x1b873593);
    h = (h << 13) | (h >>> 19);
    h = (Math.imul(h, 5) + 0xe6546b64) | 0;
  }
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The words of a UUID, given as lower-case text with hyphens. */
export function wordsOfUuid(uuid: string): UuidWords {
  return [
    (fourDigits(uuid, 0) << 16) | fourDigits(uuid, 4),
    (fourDigits(uuid, 9) << 16) | fourDigits(uuid, 14),
    (fourDigits(uuid, 19) << 16) | fourDigits(uuid, 24),
    (fourDigits(uuid, 28) << 16) | fourDigits(uuid, 32),
  ];
}

function fourDigits(uuid: string, at: number): number {
  let value = 0;
  for (let i = at; i < at + 4; i += 1) {
    const code = uuid.charCodeAt(i);
    // The codes of 0 to 9 end in their values; a to f (0x61 to 0x66) follow with 1 to 6, and 9 is missing.
    value = (value << 4) | ((code & 15) + (code >> 6) * 9);
  }
  return value;
}

export function uuidOfWords(words: UuidWords): string {
  const hex = words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Seeds the keys of one project (FNV-1a), so that the same event_id in two projects is two keys. */
export function seedOfText(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h | 0;
}
