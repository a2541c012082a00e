import { isPlain } from '../policy/language/plain.ts';
import type { Unreadable } from '../policy/language/index.ts';
import { CALL_LOOKS_MAX } from '../policy/language/limits.ts';

export type CopiedArguments = { ok: true; value: unknown } | { ok: false; code: Unreadable };

class TooLarge extends Error {}

/**
 * The arguments as they are now, every property read once: what is decided on is then what the tool gets, whatever a getter
 * or a proxy says when it is asked again, and whoever changes the caller's objects meanwhile. Plain objects and arrays are
 * copied; objects of classes, such as dates and buffers, stay the ones they are.
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
    const known = this.#copies.get(value);
    if (known !== undefined) return known;
    if (Array.isArray(value)) return this.#array(value);
    return isPlain(value) ? this.#object(value, key) : value;
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
