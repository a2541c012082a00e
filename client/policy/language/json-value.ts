import type { Decimal } from './decimal.ts';
import type { TypeName } from './policy-ir.ts';

/** A parsed JSON value. Objects are Maps, so that no key can reach a prototype. */
export type JsonValue = null | boolean | string | JsonNumber | JsonValue[] | JsonObject;

export type JsonObject = Map<string, JsonValue>;

/** An exact number, not a double. */
export class JsonNumber {
  readonly value: Decimal;

  constructor(value: Decimal) {
    this.value = value;
  }
}

export function typeOf(value: JsonValue): TypeName {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string') return 'string';
  if (Array.isArray(value)) return 'array';
  return value instanceof Map ? 'object' : 'number';
}
