// JSON as the tests write it: numbers by their spelling, objects as lists, so that a key may come twice.

export type Tree =
  | { kind: 'word'; text: string }
  | { kind: 'number'; text: string }
  | { kind: 'string'; text: string }
  | { kind: 'array'; items: Tree[] }
  | { kind: 'object'; members: [string, Tree][] };

export const word = (text: string): Tree => ({ kind: 'word', text });
export const number = (text: string): Tree => ({ kind: 'number', text });
export const string = (text: string): Tree => ({ kind: 'string', text });
export const array = (items: Tree[]): Tree => ({ kind: 'array', items });
export const object = (members: [string, Tree][]): Tree => ({ kind: 'object', members });

/** Decides how a text is spelled: each choice takes the next number of the seed. */
export class Style {
  #state: number;
  readonly #isPlain: boolean;

  constructor(seed: number) {
    this.#state = seed >>> 0;
    this.#isPlain = seed % 3 === 0;
  }

  chance(outOf: number): boolean {
    if (this.#isPlain) return false;
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return (this.#state >>> 8) % outOf === 0;
  }

  space(): string {
    if (!this.chance(4)) return '';
    return [' ', '\n', '\t', '\r\n  '][this.#state % 4] ?? '';
  }
}

/** JSON text; also for policies, because JSON is YAML. */
export function render(tree: Tree, style: Style = new Style(0)): string {
  return style.space() + bare(tree, style) + style.space();
}

function bare(tree: Tree, style: Style): string {
  switch (tree.kind) {
    case 'array':
      return `[${tree.items.map((item) => render(item, style)).join(',')}]`;
    case 'object': {
      const members = tree.members.map(
        ([key, value]) => `${style.space()}${quoted(key, style)}${style.space()}:${render(value, style)}`,
      );
      return `{${members.join(',')}}`;
    }
    case 'string':
      return quoted(tree.text, style);
    default:
      return tree.text;
  }
}

const SHORT = new Map([
  ['\n', '\\n'],
  ['\t', '\\t'],
  ['\r', '\\r'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['/', '\\/'],
]);

function quoted(text: string, style: Style): string {
  let written = '';
  for (const character of text) {
    // A code point beyond the first plane is escaped as a pair, which is two escapes.
    written += style.chance(5) ? escaped(character, style) : JSON.stringify(character).slice(1, -1);
  }
  return `"${written}"`;
}

function escaped(character: string, style: Style): string {
  const short = SHORT.get(character);
  if (short !== undefined && style.chance(2)) return short;
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  return units.map((hex) => `\\u${style.chance(2) ? hex.toUpperCase() : hex}`).join('');
}
