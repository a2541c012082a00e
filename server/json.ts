import { RequestError } from './errors.ts';

// ES2026 proposal-json-parse-with-source, in Node 24; TypeScript's library does not name it yet.
type JsonWithSource = {
  rawJSON(text: string): unknown;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
};
const jsonWithSource = JSON as unknown as JsonWithSource;

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

/** Parses again, with numbers as raw JSON that JSON.stringify writes back as it came. Only for text that parses. */
export function exactJson(text: string): unknown {
  return jsonWithSource.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? jsonWithSource.rawJSON(source)
      : value,
  );
}
