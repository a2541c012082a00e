import { isTransparent, unboxed } from '../policy/language/plain.ts';
import type { Unreadable } from '../policy/language/index.ts';
import { CALL_BYTES_MAX, CALL_LOOKS_MAX } from '../policy/language/limits.ts';

export type CopiedArguments = { ok: true; value: unknown } | { ok: false; code: Unreadable };

class TooLarge extends Error {}

/**
 * The arguments as they are now, every property read once: what is decided on is then what the tool gets, whatever a getter
 * or a proxy says when it is asked again, and whoever changes the caller's objects meanwhile. Everything is copied as plain
 * data, what has a toJSON as that says; only dates, URLs and typed arrays, which tell nothing else, stay what they are.
 */
export function copyArguments(args: unknown): CopiedArguments {
  try {
    return { ok: true, value: new Copier().copy(args) };
  } catch (error) {
    // Whatever a getter or a proxy throws, or a stack that runs out: what cannot be copied cannot be decided.
    return { ok: false, code: error instanceof TooLarge ? 'too_large' : 'bad_call' };
  }
}

class Copier {
  /** By what it is a copy of: what is there twice stays one thing, and a cycle a cycle. */
  readonly #copies = new Map<object, object>();
  #looks = 0;

  copy(value: unknown, key = ''): unknown {
    this.#looks += 1;
    // A call with more values than it may have bytes is denied anyway.
    if (this.#looks > CALL_LOOKS_MAX) throw new TooLarge();
    if (typeof value !== 'object' || value === null) return value;
    // Before anything lists its elements, one key each.
    if (ArrayBuffer.isView(value) && value.byteLength > CALL_BYTES_MAX) throw new TooLarge();
    const inside = unboxed(value);
    if (inside !== value) return inside;
    const known = this.#copies.get(value);
    if (known !== undefined) return known;
    if (Array.isArray(value)) return this.#array(value);
    return isKept(value) ? value : this.#object(value, key);
  }

  #array(source: unknown[]): unknown[] {
    const copy: unknown[] = [];
    this.#copies.set(source, copy);
    for (let index = 0; index < source.length; index += 1) copy.push(this.copy(source[index], String(index)));
    return copy;
  }

  #object(source: object, at: string): unknown {
    const { toJSON } = source as { toJSON?: unknown };
    // It is decided on what this says, so that is what the tool gets.
    if (typeof toJSON === 'function') return this.copy(toJSON.call(source, at));
    if (!isTransparent(source)) throw new TypeError('It has a state that is not in its own properties');
    const copy = Object.create(Object.getPrototypeOf(source) === null ? null : Object.prototype) as object;
    this.#copies.set(source, copy);
    for (const key of Object.keys(source)) {
      // By definition and not by assignment: an own key `__proto__` is data and must not set the prototype.
      const value = this.copy(Reflect.get(source, key), key);
      Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
    }
    return copy;
  }
}

const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array.prototype) as object;
/** A Buffer is a Uint8Array of a class of its own; there is none in a browser. */
const BUFFER = (globalThis as { Buffer?: { prototype: object } }).Buffer?.prototype;

/** Exactly these classes: a subclass, or a toJSON put on one of them, may say something else than it holds. */
function isKept(value: object): boolean {
  const type = Object.getPrototypeOf(value) as object | null;
  if (type === Date.prototype || type === URL.prototype)
    return Reflect.ownKeys(value).every((key) => typeof key === 'symbol');
  const isTyped = type !== null && (type === BUFFER || Object.getPrototypeOf(type) === TYPED_ARRAY);
  return isTyped && ArrayBuffer.isView(value) && !Object.hasOwn(value, 'toJSON');
}
