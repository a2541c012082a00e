import { EXPONENT_DIGITS_MAX, HINT_BYTES_MAX } from './limits.ts';
import { decimalFrom } from './decimal.ts';
import type { PolicyValidator } from './policy-validator.ts';
import { utf8Length } from './utf8.ts';
import type { YamlNode } from './yaml-node.ts';

export const EXPONENT_MESSAGE = `a number's exponent has more than ${EXPONENT_DIGITS_MAX} digits`;

/** Returns the hint as JSON text; keys keep their order and numbers their spelling. */
export function validateHint(validator: PolicyValidator, node: YamlNode): string {
  if (validator.map(node, 'hint') === undefined) return '{}';
  const text = jsonFrom(validator, node);
  if (hintBytes(text) > HINT_BYTES_MAX) {
    validator.refuse(node, `hint has more than ${HINT_BYTES_MAX} bytes of JSON`);
  }
  return text;
}

/** Ingest measures the text that JSON.stringify writes, in which 1e20 has 21 digits. */
function hintBytes(text: string): number {
  return Math.max(utf8Length(text), utf8Length(JSON.stringify(JSON.parse(text))));
}

function jsonFrom(validator: PolicyValidator, node: YamlNode): string {
  switch (node.kind) {
    case 'map': {
      const members = node.entries.map(
        ({ key, value }) => `${JSON.stringify(key)}:${jsonFrom(validator, value)}`,
      );
      return `{${members.join(',')}}`;
    }
    case 'list':
      return `[${node.items.map((item) => jsonFrom(validator, item)).join(',')}]`;
    case 'text':
      return JSON.stringify(node.value);
    case 'number':
      if (decimalFrom(node.source) === undefined) validator.refuse(node, EXPONENT_MESSAGE);
      return node.source;
    case 'boolean':
      return String(node.value);
    default:
      return 'null';
  }
}
