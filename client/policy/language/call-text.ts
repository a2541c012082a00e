import type { Unreadable } from './decision.ts';
import { BIGINT_BITS_MAX, CALL_BYTES_MAX } from './limits.ts';
import { TooLarge, Walk } from './walk.ts';

export type CallText = { ok: true; text: string } | { ok: false; code: Unreadable };

/**
 * Writes a call as JSON, the only input of both engines. Unlike JSON.stringify it writes the digits of a BigInt, and refuses what JSON
 * would drop or turn into null: functions, symbols, NaN, infinities. A policy must see what the tool will get.
 */
export function callTextFrom(call: unknown): CallText {
  try {
    const { tool, role, arguments: args } = membersOf(call);
    return { ok: true, text: new JsonWriter(CALL_BYTES_MAX).write({ tool, role, arguments: args }) };
  } catch (error) {
    // Getters, toJSON and proxies may throw anything.
    return { ok: false, code: error instanceof TooLarge ? 'too_large' : 'bad_call' };
  }
}

function membersOf(call: unknown): Record<string, unknown> {
  const { toJSON } = call as { toJSON?: unknown };
  const said: unknown = typeof toJSON === 'function' ? toJSON.call(call, '') : call;
  if (typeof said === 'object' && said !== null && !Array.isArray(said))
    return said as Record<string, unknown>;
  throw new TypeError('A call is an object');
}

type Place = { isArray: boolean; isEmpty: boolean };

/** Writes JSON of any depth, up to a length in UTF-16 units. */
export class JsonWriter extends Walk<Place> {
  readonly #lengthMax: number;
  #text = '';

  constructor(lengthMax: number) {
    super();
    this.#lengthMax = lengthMax;
    if (lengthMax === Infinity) this.unitsLeft = Infinity;
  }

  write(value: unknown): string {
    this.walk(value, { isArray: true, isEmpty: true });
    return this.#text;
  }

  protected override leaf(place: Place, key: string, value: unknown): void {
    this.unitsLeft -= 1;
    const text = this.#scalar(value);
    if (text !== undefined || place.isArray) this.#member(place, key, text ?? 'null');
  }

  protected override open(place: Place, key: string, _source: object, isArray: boolean): Place {
    this.#member(place, key, isArray ? '[' : '{');
    return { isArray, isEmpty: true };
  }

  protected override close({ isArray }: Place): void {
    this.#text += isArray ? ']' : '}';
  }

  #member(place: Place, key: string, text: string): void {
    const separator = place.isEmpty ? '' : ',';
    place.isEmpty = false;
    this.#text += place.isArray ? separator + text : `${separator}${this.#quoted(key)}:${text}`;
    // A small graph can unfold into an endless text.
    if (this.#text.length > this.#lengthMax) throw new TooLarge();
  }

  #scalar(value: unknown): string | undefined {
    switch (typeof value) {
      case 'undefined':
        return undefined;
      case 'string':
        return this.#quoted(value);
      case 'bigint':
        if (BigInt.asIntN(BIGINT_BITS_MAX, value) !== value) throw new TooLarge();
        return String(value);
      case 'function':
      case 'symbol':
        throw new TypeError('JSON has no functions and symbols');
      default:
        if (typeof value === 'number' && !Number.isFinite(value))
          throw new TypeError('JSON has no such number');
        return JSON.stringify(value);
    }
  }

  /** Measured first, because quoting many megabytes takes seconds. */
  #quoted(text: string): string {
    if (text.length > this.#lengthMax) throw new TooLarge();
    return JSON.stringify(text);
  }
}
