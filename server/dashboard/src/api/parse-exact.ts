import { JsonNumber } from './types.ts';

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
