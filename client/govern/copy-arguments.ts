import type { Unreadable } from '../policy/language/runtime.ts';
import { addMember, TooLarge, Walk, type Copy } from '../policy/language/walk.ts';

type CopiedArguments = { ok: true; value: unknown } | { ok: false; code: Unreadable };

/**
 * Copies the arguments as they are now and reads each property once. The policy decides on the copy, and the tool gets it, whatever a
 * getter, a proxy or another holder of the objects returns later. Preserves shared references and cycles. Dates, URLs and typed arrays are
 * copied; an object with a `toJSON` is copied as its result.
 */
export function copyArguments(args: unknown): CopiedArguments {
  try {
    return { ok: true, value: new Copier().copy(args) };
  } catch (error) {
    // Getters, toJSON and proxies may throw anything; a call that cannot be copied cannot be decided.
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
    // A policy cannot see into a function, and one named toJSON would make the copy claim something other than its content.
    if (typeof value === 'function') throw new TypeError('A function is not data');
    this.unitsLeft -= 1;
    addMember(target, key, value);
  }

  protected override open(target: Copy, key: string, source: object, isArray: boolean): Copy {
    this.unitsLeft -= 1;
    const prototype = Object.getPrototypeOf(source) === null ? null : Object.prototype;
    const copy = isArray ? [] : (Object.create(prototype) as Copy);
    this.#copies.set(source, copy);
    addMember(target, key, copy);
    return copy;
  }

  protected override replacement(value: object): object | undefined {
    const copied = this.#copies.get(value);
    if (copied !== undefined) return copied;
    const rebuilt = rebuiltFrom(value);
    if (rebuilt === undefined) return undefined;
    if (ArrayBuffer.isView(rebuilt)) this.unitsLeft -= rebuilt.byteLength;
    this.#copies.set(value, rebuilt);
    return rebuilt;
  }
}

/** The typed arrays' common prototype, whose getters tell the true type and refuse anything else. */
const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array.prototype) as object;
/** Undefined in a browser. */
const { Buffer } = globalThis as { Buffer?: { prototype: object; from(bytes: ArrayBufferLike): object } };

/**
 * A new Date, URL, Buffer or typed array with the same content. Only for exactly these classes: a subclass, or an own toJSON, may claim
 * something other than its content. Fake timers replace Date by a subclass, and their dates have an own property.
 */
function rebuiltFrom(value: object): object | undefined {
  const type = Object.getPrototypeOf(value) as { toJSON?: unknown } | null;
  if (Object.hasOwn(value, 'toJSON')) return undefined;
  if (type?.toJSON === Date.prototype.toJSON) return new Date(Date.prototype.getTime.call(value));
  if (type === URL.prototype) return new URL(String(Reflect.get(type, 'href', value)));
  if (!ArrayBuffer.isView(value)) return undefined;
  if (type !== null && type === Buffer?.prototype)
    return Buffer.from(new Uint8Array(value as Uint8Array).buffer);
  const name = String(Reflect.get(TYPED_ARRAY, Symbol.toStringTag, value));
  const { [name]: TypedArray } = globalThis as unknown as Record<string, new (from: object) => object>;
  return TypedArray?.prototype === type ? new TypedArray(value) : undefined;
}
