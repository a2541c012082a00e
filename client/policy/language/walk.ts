import { CALL_BYTES_MAX, CALL_LOOKS_MAX } from './limits.ts';

/** The value has more parts, or a larger one, than a call may have. */
export class TooLarge extends Error {}

/** Why a part of a value cannot be read as it is. */
export type Defect = 'circular' | 'unreadable' | 'binary' | 'endless';

type Frame<Target> = {
  source: object;
  /** Undefined for an array. */
  keys: string[] | undefined;
  size: number;
  index: number;
  target: Target;
};

/**
 * Reads any JavaScript value like JSON.stringify, each property exactly once: own enumerable properties in order, `toJSON` honoured, boxed
 * primitives unboxed. A subclass writes the values, as text or as a copy. By default the rules are strict: a value that cannot be read in
 * full throws. It keeps its own stack, so deep nesting does not overflow the caller's.
 */
export abstract class Walk<Target> {
  readonly #frames: Frame<Target>[] = [];
  readonly #ancestors = new Set<object>();
  /** The remaining read budget; bounds the work on values that generate themselves without end. */
  protected unitsLeft: number = CALL_LOOKS_MAX;
  /** For a larger typed array, only the size is written: listing its elements, one key each, would take seconds. */
  protected binaryBytesMax: number = CALL_BYTES_MAX;

  /** Writes a value without members; functions, symbols and undefined are such values. */
  protected abstract leaf(target: Target, key: string, value: unknown): void;

  /** Begins a container and returns the target of its members. */
  protected abstract open(target: Target, key: string, source: object, isArray: boolean): Target;

  protected close(_target: Target): void {}

  /** An object to write as a leaf in place of this one, which is then not read. */
  protected replacement(_value: object): object | undefined {
    return undefined;
  }

  /** A text to write in place of the member of this name, which is then not read. */
  protected redacted(_key: string): string | undefined {
    return undefined;
  }

  /** A text to write in place of an unreadable part; `detail` is the thrown value, or the size of the binary. */
  protected standIn(defect: Defect, detail?: unknown): string {
    if (defect === 'unreadable') throw detail;
    throw defect === 'circular' ? new TypeError('The value contains itself') : new TooLarge();
  }

  /** Throws for an object that must not be read. */
  protected admit(source: object): void {
    if (!isTransparent(source)) throw new TypeError('The value has state outside of its own properties');
  }

  protected walk(root: unknown, target: Target): void {
    this.#visit(root, target, '');
    for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) this.#step(frame);
  }

  #step(frame: Frame<Target>): void {
    const { source, keys, size, index, target } = frame;
    if (index >= size) {
      this.#ancestors.delete(source);
      this.#frames.pop();
      return this.close(target);
    }
    const key = keys === undefined ? String(index) : (keys[index] ?? '');
    const isSpent = this.unitsLeft <= 0;
    frame.index = isSpent ? size : index + 1;
    const text = isSpent ? this.standIn('endless') : keys && this.redacted(key);
    if (text !== undefined) return this.leaf(target, key, text);
    this.#visit(this.#read(source, key), target, key);
  }

  #read(source: object, key: string): unknown {
    try {
      return Reflect.get(source, key);
    } catch (error) {
      return this.standIn('unreadable', error);
    }
  }

  #visit(given: unknown, target: Target, key: string): void {
    if (!isObject(given)) return this.leaf(target, key, given);
    const value = this.#open(given, key);
    const frame = this.#frames.at(-1);
    if (frame === undefined || value !== frame) return this.leaf(target, key, value);
    frame.target = this.open(target, key, frame.source, frame.keys === undefined);
  }

  /** Pushes a frame and returns it, or returns the leaf to write in place of the object. */
  #open(given: object, key: string): unknown {
    try {
      let held = this.#held(given);
      if (held !== undefined) return held;
      const { toJSON } = given as { toJSON?: unknown };
      const said: unknown = typeof toJSON === 'function' ? toJSON.call(given, key) : given;
      if (said !== given && isObject(said)) held = this.#held(said);
      if (held !== undefined) return held;
      const source = unboxed(said);
      if (typeof source !== 'object' || source === null) return source;
      if (this.#ancestors.has(source)) return this.standIn('circular');
      return this.#push(source);
    } catch (error) {
      return this.standIn('unreadable', error);
    }
  }

  #held(value: object): unknown {
    const isLarge = ArrayBuffer.isView(value) && value.byteLength > this.binaryBytesMax;
    return isLarge ? this.standIn('binary', value.byteLength) : this.replacement(value);
  }

  #push(source: object): Frame<Target> {
    const keys = Array.isArray(source) ? undefined : Object.keys(source);
    if (keys !== undefined) this.admit(source);
    const { length: size } = keys ?? (source as unknown[]);
    // A proxy may answer anything.
    if (!Number.isSafeInteger(size) || size < 0) throw new TypeError('An array has no such length');
    const frame = { source, keys, size, index: 0 } as Frame<Target>;
    this.#ancestors.add(source);
    this.#frames.push(frame);
    return frame;
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

const BOX = /^\[object (?:Number|String|Boolean|BigInt)\]$/;

function unboxed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return BOX.test(Object.prototype.toString.call(value)) ? value.valueOf() : value;
}

/** Whether the object's own properties, as they are now, are all of its state. False for a Map, or an object with a getter. */
function isTransparent(value: object): boolean {
  const prototype = prototypeOf(value);
  // Made by a literal, JSON.parse or Object.create(null), in this realm or another.
  if (prototype === null || prototypeOf(prototype) === null) return true;
  if (ArrayBuffer.isView(value)) return !(value instanceof DataView);
  if (Object.prototype.toString.call(value) !== '[object Object]') return false;
  const own = Object.values(Object.getOwnPropertyDescriptors(value));
  if (!own.every((property) => property.enumerable === true && 'value' in property)) return false;
  for (let type: object | null = prototype; type !== null; type = prototypeOf(type)) {
    if (prototypeOf(type) === null) return true;
    const inherited = Object.values(Object.getOwnPropertyDescriptors(type));
    if (!inherited.every((property) => typeof property.value === 'function')) return false;
  }
  return true;
}

function prototypeOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null;
}

export type Copy = Record<string, unknown> | unknown[];

export function addMember(copy: Copy, key: string, value: unknown): void {
  if (Array.isArray(copy)) copy.push(value);
  else if (key in copy) {
    // An assignment would set the prototype, call a setter of it, or fail where it is frozen.
    Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
  } else copy[key] = value;
}
