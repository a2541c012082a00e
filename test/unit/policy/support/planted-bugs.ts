// Bugs that such engines really had, as one-line changes to copies of the source.

export type PlantedBug = { name: string; file: string; from: string; to: string };

/** The bugs of each file: what is wrong, the text that is right, and what replaces it. */
const BUGS_BY_FILE: Record<string, [name: string, from: string, to: string][]> = {
  'decimal.ts': [
    [
      'numbers are doubles',
      'JSON_NUMBER.exec(text) ?? []',
      'JSON_NUMBER.exec(JSON.stringify(Number(text))) ?? []',
    ],
    [
      'the exponent may have one digit more',
      'exponentDigits.length > EXPONENT_DIGITS_MAX',
      'exponentDigits.length > EXPONENT_DIGITS_MAX + 1',
    ],
  ],
  'json-reader.ts': [
    ['the last of two equal keys wins', 'if (members.has(key)) throw new BadJson();', ''],
    ['one level more is allowed', 'depth > CALL_DEPTH_MAX', 'depth > CALL_DEPTH_MAX + 1'],
    ['one level less is allowed', 'depth > CALL_DEPTH_MAX', 'depth >= CALL_DEPTH_MAX'],
    ['a lone surrogate passes', 'if (!value.isWellFormed()) throw new BadJson();', ''],
    ['text behind the call passes', 'if (this.#position !== this.#text.length) throw new BadJson();', ''],
  ],
  'read-call.ts': [
    ['a byte order mark is eaten', 'ignoreBOM: true', 'ignoreBOM: false'],
    ['broken UTF-8 is mended', 'fatal: true', 'fatal: false'],
  ],
  'utf8.ts': [
    ['length counts UTF-16 units', 'if (!isLowSurrogate(text.charCodeAt(index))) count += 1;', 'count += 1;'],
    [
      'case is folded beyond ASCII',
      'text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())',
      'text.toLowerCase()',
    ],
  ],
  'match-text.ts': [['? is one UTF-16 unit', 'position += codePoint > 0xffff ? 2 : 1;', 'position += 1;']],
  'typescript-engine.ts': [
    ['roles are sorted by UTF-16 units', 'compareUtf8(a.name, b.name)', '(a.name < b.name ? -1 : 1)'],
    [
      'the last of the strongest rules decides',
      "fired.find(({ effect }) => effect === 'deny') ?? fired[0]",
      "fired.findLast(({ effect }) => effect === 'deny') ?? fired.at(-1)",
    ],
    [
      'the first rule decides, whatever its effect',
      "fired.find(({ effect }) => effect === 'deny') ?? fired[0]",
      'fired[0]',
    ],
    [
      'approval_by_role comes last',
      '[...start.violations, ...fired.map(({ id, reason }) => `${id}: ${reason}`)]',
      '[...fired.map(({ id, reason }) => `${id}: ${reason}`), ...start.violations]',
    ],
    [
      'an unknown role falls through to no row',
      "rowIndexes.get(call.role) ?? rowIndexes.get('*')",
      'rowIndexes.get(call.role)',
    ],
  ],
  'evaluate-condition.ts': [
    [
      'a name is looked up on the prototype, too',
      'value.get(step)',
      '(Object.fromEntries(value) as Record<string, JsonValue>)[step]',
    ],
    [
      'a name opens an array',
      'value instanceof Map ? value.get(step) : undefined',
      'value instanceof Map ? value.get(step) : (value as never)?.[step]',
    ],
    [
      'an index opens an object',
      'Array.isArray(value) ? value[step] : undefined',
      'Array.isArray(value) ? value[step] : value instanceof Map ? value.get(String(step)) : undefined',
    ],
    [
      'every holds on what is missing',
      'if (!Array.isArray(value)) return false;',
      "if (!Array.isArray(value)) return op === 'every';",
    ],
    [
      'ne fails on what is missing',
      'tests.some((test) => test(value)) !== negated',
      'value !== undefined && tests.some((test) => test(value)) !== negated',
    ],
  ],
};

export const PLANTED_BUGS: PlantedBug[] = Object.entries(BUGS_BY_FILE).flatMap(([file, bugs]) =>
  bugs.map(([name, from, to]) => ({ name, file, from, to })),
);
