import type { Unreadable } from '../policy/language/index.ts';
import { addMember, TooLarge, Walk, type Copy } from '../policy/language/walk.ts';

export type CopiedArguments = { ok: true; value: unknown } | { ok: false; code: Unreadable };

/**
 * Copies the arguments as they are now, each property read once: the policy decides on the copy and the tool gets it,
 * whatever a getter or a proxy says later. Preserves shared references and cycles. Dates, URLs and typed arrays are not
 * copied; an object with a `toJSON` is copied as what it returns.
 */
export function copyArguments(args: unknown): CopiedArguments {
  try {
    return { ok: true, value: new Copier().copy(args) };
  } catch (error) {
    // Getters, toJSON and proxies may throw anything; what cannot be copied cannot be decided.
    return { ok: false, code: error instanceof TooLarge ? 'too_large' : 'bad_call' };
  }
}

class Copier extends Walk<Copy> {
  readonly #copies = new Map<object, object>();

  copy(value: unknown): unknown {
    const root: unknown[] = [];
    this.walk(value, root);
    return root[0];
  }

  protected override leaf(target: Copy, key: string, value: unknown): void {
    // A policy cannot see into a function, and one called toJSON would make the copy say something else than it holds.
    if (typeof value === 'function') throw new TypeError('A function is not data');
    this.unitsLeft -= 1;
    addMember(target, key, value);
  }

  protected override open(target: Copy, key: string, source: object): Copy {
    this.unitsLeft -= 1;
    const prototype = Object.getPrototypeOf(source) === null ? null : Object.prototype;
    const copy = Array.isArray(source) ? [] : (Object.create(prototype) as Copy);
    this.#copies.set(source, copy);
    addMember(target, key, copy);
    return copy;
  }

  protected override replacement(value: object): object | undefined {
    return this.#copies.get(value) ?? (isKept(value) ? value : undefined);
  }
}

const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array.prototype) as object;
/** Undefined in a browser. */
const BUFFER = (globalThis as { Buffer?: { prototype: object } }).Buffer?.prototype;

/** Only these very classes: a subclass, or an own toJSON, may say something else than it holds. */
function isKept(value: object): boolean {
  const type = Object.getPrototypeOf(value) as object | null;
  if (type === Date.prototype || type === URL.prototype)
    return Reflect.ownKeys(value).every((key) => typeof key === 'symbol');
  const isTyped = type !== null && (type === BUFFER || Object.getPrototypeOf(type) === TYPED_ARRAY);
  return isTyped && ArrayBuffer.isView(value) && !Object.hasOwn(value, 'toJSON');
}
