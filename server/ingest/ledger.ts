import type { IncomingHttpHeaders } from 'node:http';
import { UUID_TEXT } from './event.ts';

/** The columns of a sender's accounting, in the order of the texts below. */
export const LEDGER_COLUMNS = ['emitter', 'sequence', 'dropped'] as const;

/** Represents no emitter in a record. */
export const NO_EMITTER = '00000000-0000-0000-0000-000000000000';
/** The values of an event whose sender sent no valid accounting. */
export const NO_LEDGER = `"${NO_EMITTER}",0,null`;

const NUMBER = /^(?:0|[1-9]\d{0,15})$/;

/**
 * The values of one event, as the end of its line, from its headers: its emitter, its number there, and how many lower numbers were
 * dropped. A malformed header counts as absent; without an emitter and a number the event counts as unnumbered.
 */
export function ledgerOf(headers: IncomingHttpHeaders): string {
  if (headers['gate-emitter'] === undefined) return NO_LEDGER;
  return ledgersOf(headers, 1)?.(0) ?? NO_LEDGER;
}

/**
 * The values of each event of a batch, by its position. Undefined if they are absent or malformed, which includes a count of numbers that
 * differs from the count of events. All share one `dropped`: it counts drops below the last number, and no header has more detail.
 */
export function ledgersOf(
  headers: IncomingHttpHeaders,
  events: number,
): ((place: number) => string) | undefined {
  const emitter = textOf(headers, 'gate-emitter');
  if (!UUID_TEXT.test(emitter)) return undefined;
  const numbers = numbersFrom(textOf(headers, 'gate-sequence'), events);
  if (numbers === undefined) return undefined;
  const dropped = numberFrom(textOf(headers, 'gate-dropped')) ?? 'null';
  const folded = emitter.toLowerCase();
  return (place) => `"${folded}",${numbers[place]},${dropped}`;
}

/** The numbers of ranges such as `5-60,63-70`, if there are exactly `count`. */
function numbersFrom(text: string, count: number): number[] | undefined {
  const numbers: number[] = [];
  for (const range of text.split(',')) {
    const [from, to = from, ...rest] = range.split('-').map(numberFrom);
    if (from === undefined || to === undefined || rest.length > 0) return undefined;
    if (from < 1 || to < from || numbers.length + to - from >= count) return undefined;
    for (let number = from; number <= to; number += 1) numbers.push(number);
  }
  return numbers.length === count ? numbers : undefined;
}

/** A whole number in its usual decimal form, without signs and leading zeros, that a double holds exactly. */
function numberFrom(text: string): number | undefined {
  const number = NUMBER.test(text) ? Number(text) : undefined;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** A repeated header arrives as one text with a comma, which no single value contains. */
function textOf(headers: IncomingHttpHeaders, name: string): string {
  const text = headers[name];
  return typeof text === 'string' ? text : '';
}
