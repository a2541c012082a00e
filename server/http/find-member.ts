import {
  ARRAY_END,
  ARRAY_START,
  BACKSLASH,
  COLON,
  isSpace,
  OBJECT_END,
  OBJECT_START,
  QUOTE,
} from './json-bytes.ts';

/**
 * The text value of a member of a JSON object, without parsing the object: parsing megabytes of nested brackets takes most of a second. Of
 * several members with the name, the last one counts, as in a parser. Undefined if the value is not a string, or if the name or the value
 * is written with escapes.
 */
export function findMember(json: Buffer, name: string): string | undefined {
  const key = Buffer.from(`"${name}"`);
  let [depth, found]: [number, string | undefined] = [0, undefined];
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number;
    if (byte === OBJECT_START || byte === ARRAY_START) depth += 1;
    else if (byte === OBJECT_END || byte === ARRAY_END) depth -= 1;
    if (byte !== QUOTE) continue;
    const end = endOfString(json, at);
    if (depth === 1 && json.compare(key, 0, key.length, at, end) === 0) {
      const colon = skipSpace(json, end);
      if (json[colon] === COLON) found = textAt(json, skipSpace(json, colon + 1));
    }
    at = end - 1;
  }
  return found;
}

/** The position after the closing quote. */
function endOfString(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at + 1;
  }
  return json.length;
}

function skipSpace(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && isSpace(json[at] as number)) at += 1;
  return at;
}

function textAt(json: Buffer, start: number): string | undefined {
  if (json[start] !== QUOTE) return undefined;
  const text = json.toString('utf8', start + 1, endOfString(json, start) - 1);
  return text.includes('\\') ? undefined : text;
}
