/** Characters of a text shown at first. */
export const TEXT_CHARS_LINE = 300;
export const TEXT_CHARS_BLOCK = 10_000;

type TextPart = { kind: 'text'; text: string } | { kind: 'mark'; code: string; name: string };

const NAMES: Record<string, string> = {
  '\t': 'tab',
  '\n': 'line break',
  '\r': 'carriage return',
  '\u00ad': 'soft hyphen',
  '\u061c': 'Arabic letter mark',
  '\u200b': 'zero width space',
  '\u200e': 'left-to-right mark',
  '\u200f': 'right-to-left mark',
  '\u202a': 'left-to-right embedding',
  '\u202b': 'right-to-left embedding',
  '\u202c': 'pop directional formatting',
  '\u202d': 'left-to-right override',
  '\u202e': 'right-to-left override',
  '\u2060': 'word joiner',
  '\u2066': 'left-to-right isolate',
  '\u2067': 'right-to-left isolate',
  '\u2068': 'first strong isolate',
  '\u2069': 'pop directional isolate',
  '\ufeff': 'byte order mark',
};

/** Control, bidirectional, invisible and joining characters, and lone surrogates. */
export const HIDDEN =
  /[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

/**
 * Splits untrusted text into plain text and deceptive characters, which are shown as visible marks. Characters in `keep`,
 * such as line breaks in a block, stay plain.
 */
export function inertParts(text: string, keep = ''): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const [character] = match;
    if (keep.includes(character)) continue;
    if (match.index > from) parts.push({ kind: 'text', text: text.slice(from, match.index) });
    parts.push({ kind: 'mark', code: codeOf(character), name: NAMES[character] ?? 'control character' });
    from = match.index + character.length;
  }
  if (from < text.length) parts.push({ kind: 'text', text: text.slice(from) });
  return parts;
}

/** The same as plain text, for example for the options of a select. */
export function inertText(text: string, keep = ''): string {
  return inertParts(text, keep)
    .map((part) => (part.kind === 'text' ? part.text : `[${part.code}]`))
    .join('');
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The first characters of a text, never half a surrogate pair. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const last = text.charCodeAt(charsMax - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? charsMax - 1 : charsMax);
}
