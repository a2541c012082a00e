/** How many characters of a text are shown at first. */
export const TEXT_CHARS_LINE = 300;
export const TEXT_CHARS_BLOCK = 10_000;

type TextPart = { kind: 'text'; text: string } | { kind: 'mark'; code: string; name: string };

const NAMES: Record<string, string> = {
  '\t': 'tab',
  '\n': 'line break',
  '\r': 'carriage return',
  '\u00a0': 'no-break space',
  '\u00ad': 'soft hyphen',
  '\u061c': 'Arabic letter mark',
  '\u200b': 'zero width space',
  '\u200c': 'zero width non-joiner',
  '\u200d': 'zero width joiner',
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

/**
 * Control, bidirectional and invisible characters, and lone surrogates. Joiners belong between the letters of many scripts and in emoji, so
 * only those after other characters count. The same applies to variation selectors.
 */
export const HIDDEN =
  /(?!\u200c|\u200d|[\u180b-\u180d]|[\ufe00-\ufe0f])[\p{Cc}\p{DI}\u2028\u2029\ufff9-\ufffb]|(?<=^|[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{N}\p{P}\p{Z}])(?:\u200c|\u200d)|(?<![\p{Emoji}\p{sc=Han}\p{sc=Mongolian}])[\ufe00-\ufe0f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

const BLANK = /^\p{Zs}+$/u;

/**
 * Splits untrusted text into plain text and deceptive characters, which are shown as visible marks. Characters in `keep`, such as line
 * breaks in a block, stay plain. A text of spaces only consists of marks: otherwise, nobody could see or click it.
 */
export function inertParts(text: string, keep = ''): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(BLANK.test(text) ? /./gu : HIDDEN)) {
    const [character] = match;
    if (keep.includes(character)) continue;
    if (match.index > from) parts.push({ kind: 'text', text: text.slice(from, match.index) });
    parts.push({ kind: 'mark', code: codeOf(character), name: nameOf(character) });
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

function nameOf(character: string): string {
  return NAMES[character] ?? (BLANK.test(character) ? 'space' : 'control character');
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
