import { GatheredBytes } from './gathered-bytes.ts';
import {
  ARRAY_END,
  ARRAY_START,
  BACKSLASH,
  COMMA,
  isSpace,
  NEWLINE,
  OBJECT_END,
  OBJECT_START,
  QUOTE,
} from './json-bytes.ts';

/** Called with each item: its bytes are those of `chunk` from `start` to `end`, and are valid only during the call. */
export type OnItem = (chunk: Buffer, start: number, end: number) => void;

/** Divides a body into items as it arrives. `push` and `end` return false if the body does not have this form. */
type Splitter = { push(chunk: Buffer): boolean; end(): boolean };

/** Text that began in earlier chunks. */
class Carried {
  readonly #onItem: OnItem;
  readonly #gathered = new GatheredBytes();

  constructor(onItem: OnItem) {
    this.#onItem = onItem;
  }

  /** Copies: a piece must not keep the whole chunk in memory. */
  add(chunk: Buffer, start: number, end: number): void {
    if (end === start) return;
    const piece = chunk.subarray(start, end);
    this.#gathered.add(this.#gathered.length === 0 ? Buffer.from(piece) : piece);
  }

  /** Ends the item with these bytes. */
  finish(chunk: Buffer, start: number, end: number): void {
    if (this.#gathered.length === 0) return this.#onItem(chunk, start, end);
    this.add(chunk, start, end);
    const whole = this.#gathered.take();
    this.#onItem(whole, 0, whole.length);
  }
}

/** Newline-delimited JSON: one item per line, blank lines skipped. The last line needs no newline. */
export function splitLines(onItem: OnItem): Splitter {
  const carried = new Carried((chunk, start, end) => {
    if (!isBlank(chunk, start, end)) onItem(chunk, start, end);
  });
  return {
    push: (chunk) => {
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
        carried.finish(chunk, start, at);
        start = at + 1;
        // Calling indexOf for each of a million empty lines would take long.
        while (chunk[start] === NEWLINE) start += 1;
      }
      carried.add(chunk, start, chunk.length);
      return true;
    },
    end: () => {
      carried.finish(Buffer.alloc(0), 0, 0);
      return true;
    },
  };
}

function isBlank(chunk: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!isSpace(chunk[at] as number)) return false;
  return true;
}

/** What the array may contain next, between items. */
type Place = 'array' | 'first' | 'item' | 'separator' | 'nothing';

/**
 * The elements of a JSON array. Only the array itself is checked, so an element may be invalid JSON: the body is a JSON array exactly if
 * all its elements parse.
 */
export function splitArray(onItem: OnItem): Splitter {
  const carried = new Carried(onItem);
  const ends = createEndSearch();
  let place: Place = 'array';
  let isInItem = false;

  function isStart(byte: number): boolean {
    if (place === 'first') return byte !== ARRAY_END && !isSpace(byte);
    return place === 'item' && !isSpace(byte);
  }

  /** Takes a byte outside of items. False if it is not allowed there. */
  function takeBetween(byte: number): boolean {
    if (isSpace(byte)) return true;
    if (place === 'array' && byte === ARRAY_START) place = 'first';
    else if (place === 'separator' && byte === COMMA) place = 'item';
    else if ((place === 'separator' || place === 'first') && byte === ARRAY_END) place = 'nothing';
    else return false;
    return true;
  }

  return {
    push: (chunk) => {
      for (let at = 0; at < chunk.length;) {
        if (!isInItem && !isStart(chunk[at] as number)) {
          if (!takeBetween(chunk[at] as number)) return false;
          at += 1;
          continue;
        }
        const start = at;
        at = ends(chunk, start);
        isInItem = at === chunk.length;
        if (isInItem) carried.add(chunk, start, at);
        else {
          carried.finish(chunk, start, at);
          place = 'separator';
        }
      }
      return true;
    },
    end: () => place === 'nothing',
  };
}

/** Returns a search for the comma or bracket after an item. It continues in the next chunk if it ends at the length. */
function createEndSearch(): (chunk: Buffer, from: number) => number {
  let [depth, isInString, isEscaped] = [0, false, false];
  return (chunk, from) => {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (isEscaped) isEscaped = false;
      else if (isInString) {
        if (byte === QUOTE) isInString = false;
        else if (byte === BACKSLASH) isEscaped = true;
      } else if (byte === QUOTE) isInString = true;
      else if (byte === OBJECT_START || byte === ARRAY_START) depth += 1;
      else if (depth > 0) {
        if (byte === OBJECT_END || byte === ARRAY_END) depth -= 1;
      } else if (byte === COMMA || byte === ARRAY_END) return at;
    }
    return chunk.length;
  };
}
