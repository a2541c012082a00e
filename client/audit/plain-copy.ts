import { unboxed } from '../policy/language/plain.ts';
import { BIGINT_BITS_MAX, CALL_BYTES_MAX } from '../policy/language/limits.ts';
import { COPY_UNITS_MAX, COPY_UNITS_PER_CONTAINER, COPY_UNITS_PER_LEAF } from '../limits.ts';

const CIRCULAR = '[Circular]';
const UNREADABLE = '[Unreadable]';
const CUT = '[Cut]';

type ReplaceValue = (key: string) => string | undefined;

type Frame = {
  source: object;
  keys: string[] | undefined;
  size: number;
  index: number;
  copy: Record<string, unknown> | unknown[];
};

/**
 * Copies any value into plain JSON data, as it is now, without ever throwing: toJSON is honoured, what JSON
 * cannot say becomes its string form. `replaceValue` may name a substitute for the value under a key.
 */
export function plainCopy(value: unknown, replaceValue: ReplaceValue = () => undefined): unknown {
  return new Walk(replaceValue).run(value);
}

/** By hand and not by recursion, because a depth of 10,000 must not overflow the caller's stack. */
class Walk {
  readonly #replaceValue: ReplaceValue;
  readonly #frames: Frame[] = [];
  readonly #open = new Set<object>();
  #unitsLeft = COPY_UNITS_MAX;

  constructor(replaceValue: ReplaceValue) {
    this.#replaceValue = replaceValue;
  }

  run(root: unknown): unknown {
    const copy = this.#enter(root, '');
    for (let frame = this.#frames.at(-1); frame; frame = this.#frames.at(-1)) this.#step(frame);
    return copy;
  }

  #enter(value: unknown, key: string): unknown {
    const plain = unwrap(value, key);
    if (typeof plain !== 'object' || plain === null) return this.#leaf(plain);
    if (this.#open.has(plain)) return this.#leaf(CIRCULAR);
    const frame = openFrame(plain);
    if (frame === undefined) return this.#leaf(UNREADABLE);
    this.#unitsLeft -= COPY_UNITS_PER_CONTAINER;
    this.#open.add(plain);
    this.#frames.push(frame);
    return frame.copy;
  }

  /** The cost is that of the copy, so that a copy of the copy is cut at the same place. */
  #leaf(value: unknown): unknown {
    const leaf = typeof value === 'string' ? value.slice(0, Math.max(0, this.#unitsLeft)) : value;
    this.#unitsLeft -= COPY_UNITS_PER_LEAF + (typeof leaf === 'string' ? leaf.length : 0);
    return leaf;
  }

  #step(frame: Frame): void {
    if (frame.index >= frame.size) {
      this.#open.delete(frame.source);
      this.#frames.pop();
      return;
    }
    const key = frame.keys?.[frame.index] ?? String(frame.index);
    frame.index += 1;
    if (this.#unitsLeft <= 0) {
      write(frame.copy, key, CUT);
      frame.index = frame.size;
      return;
    }
    if (frame.keys) this.#unitsLeft -= key.length;
    const replacement = frame.keys && this.#replaceValue(key);
    write(frame.copy, key, replacement ?? this.#enter(read(frame.source, key), key));
  }
}

function unwrap(value: unknown, key: string): unknown {
  if (typeof value === 'string' || value === null) return value;
  try {
    // A larger one is never decided on, and listing its elements, one key each, takes seconds.
    if (ArrayBuffer.isView(value) && value.byteLength > CALL_BYTES_MAX)
      return `[Binary, ${value.byteLength} bytes]`;
    const plain = unboxed(hasToJson(value) ? value.toJSON(key) : value);
    // Its digits alone would take seconds.
    if (typeof plain === 'bigint' && BigInt.asIntN(BIGINT_BITS_MAX, plain) !== plain) return CUT;
    const isText = typeof plain === 'bigint' || typeof plain === 'symbol' || typeof plain === 'function';
    return isText || (typeof plain === 'number' && !Number.isFinite(plain)) ? String(plain) : plain;
  } catch {
    // Foreign code ran (a proxy, a toJSON) and failed: the record says so in place of the value.
    return UNREADABLE;
  }
}

function hasToJson(value: unknown): value is { toJSON(key: string): unknown } {
  const isObject = typeof value === 'object' || typeof value === 'function';
  return isObject && value !== null && 'toJSON' in value && typeof value.toJSON === 'function';
}

function openFrame(source: object): Frame | undefined {
  try {
    if (Array.isArray(source)) {
      return { source, keys: undefined, size: source.length, index: 0, copy: [] };
    }
    const keys = Object.keys(source);
    return { source, keys, size: keys.length, index: 0, copy: {} };
  } catch {
    // A proxy that refuses to be listed; see unwrap.
    return undefined;
  }
}

function read(source: object, key: string): unknown {
  try {
    return Reflect.get(source, key);
  } catch {
    // A getter that throws; see unwrap.
    return UNREADABLE;
  }
}

function write(copy: Frame['copy'], key: string, value: unknown): void {
  if (Array.isArray(copy)) copy.push(value);
  // By definition and not by assignment: an own key `__proto__` is data and must not set the prototype.
  else if (key === '__proto__') {
    Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
  } else copy[key] = value;
}
