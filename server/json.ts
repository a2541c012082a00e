import { randomUUID } from 'node:crypto';
import { RequestError } from './errors.ts';

// ES2026 proposal-json-parse-with-source, in Node 24; TypeScript's library does not name it yet.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };

/**
 * A number that JSON.stringify might not spell as it came: a fraction, an exponent, sixteen digits or minus zero.
 * Only where a value may start (after `":`, `[` or `,`), so that UUIDs and times in strings do not count. Text that
 * looks like it inside a string costs a second parse and changes nothing.
 */
const NUMBER_AT_RISK = /(?:"\s*:|[[,])\s*(?:-0|-?\d+[.eE]|-?\d{16})/;

/** Parses JSON that has passed as UTF-8. Throws body_invalid with the engine's own words. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RequestError('body_invalid', `The body is not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** True when `exactJson` must be used to keep every number of the text digit for digit. */
export function hasNumberAtRisk(text: string): boolean {
  return NUMBER_AT_RISK.test(text);
}

/** Strings, which are passed over, and numbers. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Drawn anew in each process, so that no text can hold it. */
const MARK = `number:${randomUUID()}:`;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** A value whose numbers have kept their digits: `textOf` writes any part of it as JSON.stringify would, but for them. */
export type ExactJson = { value: unknown; textOf: (part: unknown) => string };

/**
 * Parses again, with every number as it came. Numbers that JSON.stringify would spell in another way travel through
 * the parser as marked strings. A reviver with its source text would be shorter, but runs out of stack on text that
 * nests a few thousand levels deep, which is legal. Only for text that parses.
 */
export function exactJson(text: string): ExactJson {
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${MARK}${token}"`,
  );
  return { value: JSON.parse(marked), textOf: (part) => JSON.stringify(part).replace(MARKED, '$1') };
}

/** A number by its digits, which JSON.stringify writes as they are. */
export function rawJson(digits: string): unknown {
  return rawJSON(digits);
}
