/** The JSON text of plain data at any depth. */
export function jsonText(plain: unknown): string {
  try {
    return JSON.stringify(plain) ?? 'null';
  } catch {
    // The built-in form recurses and gives up on deep nesting; this one does not.
    return deepJsonText(plain);
  }
}

/** The size as the service measures it: UTF-8 bytes of the JSON text. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).byteLength;
}

const encoder = new TextEncoder();

class Token {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function deepJsonText(root: unknown): string {
  const parts: string[] = [];
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (next instanceof Token) parts.push(next.text);
    else if (typeof next !== 'object' || next === null) parts.push(JSON.stringify(next) ?? 'null');
    else for (const part of partsOf(next).toReversed()) waiting.push(part);
  }
  return parts.join('');
}

function partsOf(container: object): unknown[] {
  if (Array.isArray(container)) {
    return [new Token('['), ...container.flatMap((item, index) => [comma(index), item]), new Token(']')];
  }
  const entries = Object.entries(container).filter(([, value]) => value !== undefined);
  const members = entries.flatMap(([key, value], index) => [
    comma(index),
    new Token(`${JSON.stringify(key)}:`),
    value,
  ]);
  return [new Token('{'), ...members, new Token('}')];
}

const comma = (index: number): Token => new Token(index === 0 ? '' : ',');
