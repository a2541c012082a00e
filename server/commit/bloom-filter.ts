/**
 * 32 bits per key and 8 probes in one block: about two false positives in 100,000 keys. A single one delays a flush of thousands of rows.
 * With 16 bits, half of the flushes waited for a lookup.
 */
const BITS_PER_KEY = 32;
const PROBES = 8;
/** A block is one cache line, so that a key costs one access to memory (Putze, Sanders and Singler 2007). */
const BLOCK_WORDS = 16;
const BLOCK_BITS = 32 * BLOCK_WORDS;
const MASK = BLOCK_BITS - 1;
export const UUID_WORDS = 4;
const BATCH_KEYS = 128;

/** The four 32-bit words of a UUID, in the order in which ClickHouse's RowBinary holds them. */
export type UuidWords = readonly number[] | Int32Array;

const BATCH_BASE = new Int32Array(BATCH_KEYS);
const BATCH_H2 = new Int32Array(BATCH_KEYS);
const BATCH_FETCHED = new Int32Array(BATCH_KEYS);

/** A Bloom filter of fixed size (Bloom 1970), with enhanced double hashing (Dillinger and Manolios 2004) in each block. */
export class Filter {
  readonly keysMax: number;
  readonly words: Int32Array<ArrayBuffer>;
  keys: number;
  readonly #blocks: number;

  static bytesFor(keysMax: number): number {
    return Math.ceil((keysMax * BITS_PER_KEY) / BLOCK_BITS) * (BLOCK_BITS / 8);
  }

  constructor(keysMax: number, keys = 0) {
    this.keysMax = keysMax;
    this.keys = keys;
    this.words = new Int32Array(Filter.bytesFor(keysMax) / 4);
    this.#blocks = this.words.length / BLOCK_WORDS;
  }

  add(h1: number, h2: number): void {
    this.keys += 1;
    this.#set(this.#baseOf(h1), h2);
  }

  /** Adds at most BATCH_KEYS keys. Their blocks are fetched from memory all at once, which takes half the time. */
  addBatch(seed: number, keys: Int32Array): void {
    const count = keys.length / UUID_WORDS;
    for (let i = 0; i < count; i += 1) {
      const h1 = hash(seed, keys, i * UUID_WORDS);
      BATCH_H2[i] = hash(~seed, keys, i * UUID_WORDS);
      const base = this.#baseOf(h1);
      BATCH_BASE[i] = base;
      BATCH_FETCHED[i] = this.words[base] ?? 0;
    }
    for (let i = 0; i < count; i += 1) this.#set(BATCH_BASE[i] ?? 0, BATCH_H2[i] ?? 0);
    this.keys += count;
  }

  #set(base: number, h2: number): void {
    const { words } = this;
    let bit = h2 & MASK;
    let step = ((h2 >>> 9) & MASK) | 1;
    for (let probe = 0; probe < PROBES; probe += 1) {
      const at = base + ((bit & MASK) >>> 5);
      words[at] = (words[at] ?? 0) | (1 << (bit & 31));
      bit += step;
      step += (h2 >>> 18) & MASK;
    }
  }

  has(h1: number, h2: number): boolean {
    const { words } = this;
    const base = this.#baseOf(h1);
    let bit = h2 & MASK;
    let step = ((h2 >>> 9) & MASK) | 1;
    for (let probe = 0; probe < PROBES; probe += 1) {
      if (((words[base + ((bit & MASK) >>> 5)] ?? 0) & (1 << (bit & 31))) === 0) return false;
      bit += step;
      step += (h2 >>> 18) & MASK;
    }
    return true;
  }

  #baseOf(h1: number): number {
    return Math.trunc((h1 * this.#blocks) / 2 ** 32) * BLOCK_WORDS;
  }
}

type GrowingFilterOptions = { keysFirst: number; bytesMax: number };

/**
 * A scalable Bloom filter (Almeida et al. 2007): it grows by adding filters, each twice as large as the one before, or as large as
 * `bytesMax` allows. If that is less than the first one, `isComplete` becomes false for good and `mayHave` is true for every key.
 */
export class GrowingFilter {
  /** The oldest first. Keys are added to the last one. */
  readonly filters: Filter[];
  readonly #options: GrowingFilterOptions;
  #newest: Filter;
  isComplete = true;

  constructor(options: GrowingFilterOptions, filters = [new Filter(options.keysFirst)]) {
    this.#options = options;
    this.filters = filters;
    this.#newest = filters.at(-1) ?? new Filter(options.keysFirst);
  }

  get bytes(): number {
    return this.filters.reduce((sum, { words }) => sum + words.byteLength, 0);
  }

  get keys(): number {
    return this.filters.reduce((sum, { keys }) => sum + keys, 0);
  }

  /** Makes room for this many keys, so that one filter takes them all. */
  reserve(keys: number): void {
    if (this.isComplete && keys > this.#newest.keysMax - this.#newest.keys) this.#grow(keys);
  }

  add(seed: number, words: UuidWords): void {
    if (this.#newest.keys >= this.#newest.keysMax && this.isComplete) this.#grow(this.#newest.keysMax * 2);
    if (!this.isComplete) return;
    this.#newest.add(hash(seed, words, 0), hash(~seed, words, 0));
  }

  /** Adds all UUIDs of a page. */
  addAll(seed: number, page: Int32Array): void {
    for (let at = 0; at < page.length; at += BATCH_KEYS * UUID_WORDS) {
      const keys = page.subarray(at, at + BATCH_KEYS * UUID_WORDS);
      const { keysMax, keys: held } = this.#newest;
      if (held + BATCH_KEYS <= keysMax && this.isComplete) this.#newest.addBatch(seed, keys);
      else
        for (let key = 0; key < keys.length; key += UUID_WORDS)
          this.add(seed, keys.subarray(key, key + UUID_WORDS));
    }
  }

  /** False only when the key was never added. */
  mayHave(seed: number, words: UuidWords): boolean {
    if (!this.isComplete) return true;
    const h1 = hash(seed, words, 0);
    const h2 = hash(~seed, words, 0);
    return this.filters.some((filter) => filter.has(h1, h2));
  }

  #grow(keys: number): void {
    const { keysFirst, bytesMax } = this.#options;
    const room = Math.floor(((bytesMax - this.bytes) * 8) / BLOCK_BITS) * (BLOCK_BITS / BITS_PER_KEY);
    const keysMax = Math.min(keys, room);
    if (keysMax >= keysFirst) {
      this.#newest = new Filter(keysMax);
      this.filters.push(this.#newest);
      return;
    }
    this.isComplete = false;
    this.filters.length = 0;
  }
}

/** The 32-bit MurmurHash3 (Appleby 2011) of four words. */
function hash(seed: number, words: UuidWords, at: number): number {
  let h = seed | 0;
  for (let i = at; i < at + UUID_WORDS; i += 1) {
    let k = Math.imul(words[i] ?? 0, 0xcc9e2d51);
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
    (fourDigits(uuid, 9) << 16) | fourDigits(uuid, 14),
    (fourDigits(uuid, 0) << 16) | fourDigits(uuid, 4),
    (fourDigits(uuid, 28) << 16) | fourDigits(uuid, 32),
    (fourDigits(uuid, 19) << 16) | fourDigits(uuid, 24),
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

/** The order of UUIDs in ClickHouse: by their second half first. */
export function isAfter(a: UuidWords, b: UuidWords): boolean {
  for (const at of [3, 2, 1, 0] as const) if (a[at] !== b[at]) return (a[at] ?? 0) >>> 0 > (b[at] ?? 0) >>> 0;
  return false;
}

/** Seeds the keys of one project (FNV-1a), so that the same event_id in two projects is two keys. */
export function seedOfText(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h | 0;
}
