import { decimalFrom, type Decimal } from './decimal.ts';
import { CALL_DEPTH_MAX, CALL_VALUES_MAX } from './limits.ts';
import { JsonNumber, type JsonObject, type JsonValue } from './json-value.ts';

const WHITESPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids them in a string
const PLAIN_CHARACTERS = /[^"\\\0-\x1f]*/y;
const ESCAPES = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }),
);
const HEX4 = /^[0-9a-fA-F]{4}$/;

/** The text is not JSON or exceeds a limit. */
export class BadJson extends Error {}

/**
 * Parses strict JSON (RFC 8259). JSON.parse would keep the last of duplicate keys, round numbers to doubles and accept lone
 * surrogates, and has no limits.
 */
export function readJson(text: string): JsonValue {
  return new JsonReader(text).read();
}

class JsonReader {
  readonly #text: string;
  #position = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): JsonValue {
    const value = this.#value(1);
    this.#skip(WHITESPACE);
    if (this.#position !== this.#text.length) throw new BadJson();
    return value;
  }

  #value(depth: number): JsonValue {
    this.#values += 1;
    if (this.#values > CALL_VALUES_MAX) throw new BadJson();
    this.#skip(WHITESPACE);
    switch (this.#text[this.#position]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return new JsonNumber(this.#number());
    }
  }

  #object(depth: number): JsonObject {
    this.#open(depth);
    const members: JsonObject = new Map();
    if (this.#take('}')) return members;
    do {
      this.#skip(WHITESPACE);
      const key = this.#string();
      if (members.has(key)) throw new BadJson();
      if (!this.#take(':')) throw new BadJson();
      members.set(key, this.#value(depth + 1));
    } while (this.#take(','));
    if (!this.#take('}')) throw new BadJson();
    return members;
  }

  #array(depth: number): JsonValue[] {
    this.#open(depth);
    const items: JsonValue[] = [];
    if (this.#take(']')) return items;
    do {
      items.push(this.#value(depth + 1));
    } while (this.#take(','));
    if (!this.#take(']')) throw new BadJson();
    return items;
  }

  #open(depth: number): void {
    if (depth > CALL_DEPTH_MAX) throw new BadJson();
    this.#position += 1;
  }

  #string(): string {
    if (this.#text[this.#position] !== '"') throw new BadJson();
    this.#position += 1;
    let value = this.#skip(PLAIN_CHARACTERS);
    while (this.#text[this.#position] === '\\') {
      value += this.#escape() + this.#skip(PLAIN_CHARACTERS);
    }
    if (this.#text[this.#position] !== '"') throw new BadJson();
    this.#position += 1;
    // Checked on the whole string, because a pair may be written as two escapes.
    if (!value.isWellFormed()) throw new BadJson();
    return value;
  }

  #escape(): string {
    const letter = this.#text[this.#position + 1];
    if (letter !== 'u') {
      const character = ESCAPES.get(letter ?? '');
      if (character === undefined) throw new BadJson();
      this.#position += 2;
      return character;
    }
    const digits = this.#text.slice(this.#position + 2, this.#position + 6);
    if (!HEX4.test(digits)) throw new BadJson();
    this.#position += 6;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #number(): Decimal {
    const source = this.#skip(NUMBER);
    const value = source === '' ? undefined : decimalFrom(source);
    if (value === undefined) throw new BadJson();
    return value;
  }

  #word<Word extends JsonValue>(spelling: string, word: Word): Word {
    if (!this.#text.startsWith(spelling, this.#position)) throw new BadJson();
    this.#position += spelling.length;
    return word;
  }

  /** Skips whitespace, then takes the mark if it is next. */
  #take(mark: string): boolean {
    this.#skip(WHITESPACE);
    if (this.#text[this.#position] !== mark) return false;
    this.#position += 1;
    return true;
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#position;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#position += found.length;
    return found;
  }
}
