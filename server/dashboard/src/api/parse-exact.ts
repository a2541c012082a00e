import { JsonNumber, type JsonValue, NUMBER_MARK } from './types.ts';

/** Matches numbers, and strings so that numbers inside them are skipped. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARKED = new RegExp(`"${NUMBER_MARK}([^"]*)"`, 'g');

/**
 * Parses JSON. A number that JavaScript would write differently becomes a JsonNumber with the original digits. In the meantime it is a
 * marked string: a reviver would overflow the stack on arguments that are nested a few thousand levels deep.
 */
export function parseExact(text: string): unknown {
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${NUMBER_MARK}${token}"`,
  );
  const root = { value: JSON.parse(marked) as unknown };
  if (marked !== text) unmark(root);
  return root.value;
}

/** Replaces the marked strings inside an object. */
function unmark(root: object): void {
  const inside = [root as Record<string, unknown>];
  for (let part = inside.pop(); part !== undefined; part = inside.pop()) {
    for (const [key, value] of Object.entries(part)) {
      if (typeof value === 'string' && value.startsWith(NUMBER_MARK))
        part[key] = new JsonNumber(value.slice(NUMBER_MARK.length));
      else if (typeof value === 'object' && value !== null) inside.push(value as Record<string, unknown>);
    }
  }
}

/** JSON with the original digits of every number; on several lines with `indent`. */
export function writeExact(value: JsonValue, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(MARKED, '$1');
}
