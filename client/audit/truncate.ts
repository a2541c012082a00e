import { ARGUMENTS_BYTES_MAX } from '../limits.ts';
import { utf8Length } from '../policy/language/utf8.ts';
import { jsonText, plainCopy, type Shaped } from './plain-copy.ts';

/**
 * A plain copy of the arguments; over 8,192 bytes of JSON it is `{ _truncated: true, original_bytes, preview }` instead, with
 * the beginning of the JSON text as preview. Never throws.
 */
export function truncateArguments(args: unknown): unknown {
  return fitted({ plain: plainCopy(args), isCut: false }, ARGUMENTS_BYTES_MAX);
}

/** Plain data that fits is unchanged. Otherwise, or if it is a cut copy, the beginning of its JSON text. */
export function fitted({ plain, isCut }: Shaped, bytesMax: number): unknown {
  if (plain === undefined) return plain;
  const text = jsonText(plain);
  const bytes = utf8Length(text);
  if (!isCut && bytes <= bytesMax) return plain;
  const envelope = { _truncated: true, original_bytes: bytes, preview: '' };
  const room = bytesMax - utf8Length(JSON.stringify(envelope));
  return { ...envelope, preview: text.slice(0, unitsThatFit(text, room)) };
}

/** How many UTF-16 units of a JSON text fit into `room` bytes of a JSON string. */
function unitsThatFit(text: string, room: number): number {
  let units = 0;
  for (let left = room; units < text.length;) {
    const codePoint = text.codePointAt(units) ?? 0;
    left -= bytesInJsonString(codePoint);
    if (left < 0) break;
    units += codePoint > 0xffff ? 2 : 1;
  }
  return units;
}

/** A JSON text has no control characters and no lone surrogates: they are escaped in it. */
function bytesInJsonString(codePoint: number): number {
  if (codePoint === 0x22 || codePoint === 0x5c) return 2;
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
