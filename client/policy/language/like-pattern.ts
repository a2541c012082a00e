import type { LikePattern, LikeUnit } from './policy-ir.ts';

/** Parses a `like` pattern; undefined if it ends with a `\` that escapes nothing. */
export function likePatternFrom(text: string): LikePattern | undefined {
  const parts: LikePattern = [];
  let part: LikeUnit[] = [];
  let isEscaped = false;
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    if (isEscaped) {
      part.push(codePoint);
      isEscaped = false;
    } else if (character === '\\') {
      isEscaped = true;
    } else if (character === '*') {
      parts.push(part);
      part = [];
    } else {
      part.push(character === '?' ? null : codePoint);
    }
  }
  if (isEscaped) return undefined;
  parts.push(part);
  // `**` means the same as `*`.
  return parts.filter((part, index) => part.length > 0 || index === 0 || index === parts.length - 1);
}
