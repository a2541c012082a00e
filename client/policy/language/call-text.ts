import { isTransparent, unboxed } from './plain.ts';
import type { Unreadable } from './decision.ts';
import { BIGINT_BITS_MAX, CALL_BYTES_MAX, CALL_LOOKS_MAX } from './limits.ts';

export type CallText = { ok: true; text: string } | { ok: false; code: Unreadable };

class Unserialisable extends Error {
  readonly code: Unreadable;

  constructor(code: Unreadable) {
    super(code);
    this.code = code;
  }
}

/**
 * A call as JSON text, both engines' only input. Like JSON.stringify, but a BigInt is its digits, and
 * what JSON would drop or turn into null in silence (functions, symbols, NaN, infinities) is refused,
 * as are cycles, and objects with a state that is not in their own properties: the policy must see what
 * the tool will get.
 */
export function callTextFrom(call: unknown): CallText {
  try {
    return { ok: true, text: new CallWriter().write(call) };
  } catch (error) {
    // Whatever a getter, a toJSON or a proxy throws, or a stack that runs out: no decision without a text.
    return { ok: false, code: error instanceof Unserialisable ? error.code : 'bad_call' };
  }
}

class CallWriter {
  readonly #ancestors = new Set<object>();
  #length = 0;
  #looks = 0;

  write(call: unknown): string {
    const value = withToJson(call, '');
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Unserialisable('bad_call');
    }
    const { tool, role, arguments: args } = value as Record<string, unknown>;
    return this.#object(value, { tool, role, arguments: args });
  }

  #value(input: unknown, key: string): string | undefined {
    this.#looks += 1;
    if (this.#looks > CALL_LOOKS_MAX) throw new Unserialisable('too_large');
    const value = unboxed(withToJson(input, key));
    switch (typeof value) {
      case 'undefined':
        return undefined;
      case 'string':
        return this.#quoted(value);
      case 'bigint':
        if (BigInt.asIntN(BIGINT_BITS_MAX, value) !== value) throw new Unserialisable('too_large');
        return this.#counted(String(value));
      case 'boolean':
        return this.#counted(String(value));
      case 'number':
        if (!Number.isFinite(value)) throw new Unserialisable('bad_call');
        return this.#counted(JSON.stringify(value));
      case 'object':
        return value === null ? this.#counted('null') : this.#container(value);
      default:
        throw new Unserialisable('bad_call');
    }
  }

  #container(value: object): string {
    if (Array.isArray(value)) return this.#array(value);
    if (!isTransparent(value)) throw new Unserialisable('bad_call');
    return this.#object(value, value);
  }

  #object(owner: object, content: object): string {
    this.#enter(owner);
    const members: string[] = [];
    // One after the other and not Object.entries, which reads all of them before any is counted.
    for (const key of Object.keys(content)) {
      const text = this.#value(Reflect.get(content, key), key);
      if (text !== undefined) members.push(`${this.#quoted(key)}:${text}`);
    }
    this.#ancestors.delete(owner);
    return `{${members.join(',')}}`;
  }

  #array(owner: unknown[]): string {
    this.#enter(owner);
    const items: string[] = [];
    for (let index = 0; index < owner.length; index += 1) {
      items.push(this.#value(owner[index], String(index)) ?? this.#counted('null'));
    }
    this.#ancestors.delete(owner);
    return `[${items.join(',')}]`;
  }

  #enter(owner: object): void {
    if (this.#ancestors.has(owner)) throw new Unserialisable('bad_call');
    this.#ancestors.add(owner);
    this.#counted('{}');
  }

  /** Measured first, because quoting a text of many megabytes takes seconds. */
  #quoted(text: string): string {
    if (text.length > CALL_BYTES_MAX) throw new Unserialisable('too_large');
    return this.#counted(JSON.stringify(text));
  }

  /** Stops a small graph that unfolds into an endless text as soon as it is too large to be decided. */
  #counted(text: string): string {
    this.#length += text.length;
    if (this.#length > CALL_BYTES_MAX) throw new Unserialisable('too_large');
    return text;
  }
}

function withToJson(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // Before anything lists its elements, one key each, as a Buffer's toJSON does too.
  if (ArrayBuffer.isView(value) && value.byteLength > CALL_BYTES_MAX) throw new Unserialisable('too_large');
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? (toJSON.call(value, key) as unknown) : value;
}
