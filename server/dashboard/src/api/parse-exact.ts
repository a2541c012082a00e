import { JsonNumber, type JsonValue } from './types.ts';

/** Numbers of that many digits, or with an exponent, may not survive JSON.parse. */
const RISKY_NUMBER = /\d{16}|\d[eE][+-]?\d|\.\d*0[,}\]\s]/;

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/** Parses JSON; a number that JavaScript would change becomes a JsonNumber with the digits that were sent. */
export function parseExact(text: string): unknown {
  if (!RISKY_NUMBER.test(text)) return JSON.parse(text);
  const revive: Reviver = (_key, value, context) => {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    return String(value) === context.source ? value : new JsonNumber(context.source);
  };
  return JSON.parse(text, revive);
}

/** Indented JSON, with the digits of every number as they were sent. */
export function writeExact(value: JsonValue, indent = ''): string {
  if (value instanceof JsonNumber) return value.source;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}  `;
  const [open, close, parts] = Array.isArray(value)
    ? ['[', ']', value.map((item) => writeExact(item, inner))]
    : [
        '{',
        '}',
        Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${writeExact(item, inner)}`),
      ];
  if (parts.length === 0) return `${open}${close}`;
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}
