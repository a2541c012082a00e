import { randomBytes } from 'node:crypto';
import { RequestError } from './errors.ts';

// From proposal-json-parse-with-source. Node 24 has it, TypeScript's library does not declare it yet.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => number };

/**
 * A number that JSON.stringify might not reproduce: a fraction, an exponent, 16 digits or minus zero. It is matched only
 * where a value may start (after `":`, `[` or `,`), so UUIDs and times in strings do not match. A false match inside a
 * string costs a second parse and changes nothing.
 */
const NUMBER_AT_RISK = /(?:"\s*:|[[,])\s*(?:-0|-?\d+[.eE]|-?\d{16})/;

/** Parses JSON text. The engine's message quotes the text, which may hold a password: only its position is kept. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position =
      / at position \d+(?: \(line \d+ column \d+\))?$/.exec((error as Error).message)?.[0] ?? '';
    throw new RequestError('body_invalid', `The body is not valid JSON${position}`);
  }
}

/** Whether `exactJson` is needed to keep every number of the text digit for digit. */
export function hasNumberAtRisk(text: string): boolean {
  return NUMBER_AT_RISK.test(text);
}

/** Matches numbers at risk, and strings so that numbers inside them are skipped. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<!\d)-?(?:\d+[.eE][\d.eE+-]*|\d{16,}|(?<=-)0)/g;
/** Random in each process, so that no text can contain it, and short, because a text may have a number every four bytes. */
const MARK = randomBytes(8).toString('base64url');
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

/** `textOf` writes a part of the value as JSON.stringify would, but with the original digits of its numbers. */
type ExactJson = { value: unknown; textOf: (part: unknown) => string };

/**
 * Parses valid JSON and keeps the digits of its numbers. Numbers that JSON.stringify might write differently pass through
 * the parser as marked strings. A reviver with source text would be shorter, but it overflows the stack on text nested a
 * few thousand levels deep, which is legal.
 */
export function exactJson(text: string): ExactJson {
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') ? token : `"${MARK}${token}"`,
  );
  return { value: JSON.parse(marked), textOf: (part) => JSON.stringify(part).replace(MARKED, '$1') };
}

/** A number that JSON.stringify writes with exactly these digits. */
export function rawJson(digits: string): number {
  return rawJSON(digits);
}
