// Bugs that such engines really had, as one-line changes to copies of the source.

export type PlantedBug = { name: string; file: string; from: string; to: string };

export const PLANTED_BUGS: PlantedBug[] = [
  {
    name: 'numbers are doubles',
    file: 'decimal.ts',
    from: 'JSON_NUMBER.exec(text) ?? []',
    to: 'JSON_NUMBER.exec(JSON.stringify(Number(text))) ?? []',
  },
  {
    name: 'the exponent may have one digit more',
    file: 'decimal.ts',
    from: 'exponentDigits.length > EXPONENT_DIGITS_MAX',
    to: 'exponentDigits.length > EXPONENT_DIGITS_MAX + 1',
  },
  {
    name: 'the last of two equal keys wins',
    file: 'json-reader.ts',
    from: 'if (members.has(key)) throw new BadJson();',
    to: '',
  },
  {
    name: 'one level more is allowed',
    file: 'json-reader.ts',
    from: 'depth > CALL_DEPTH_MAX',
    to: 'depth > CALL_DEPTH_MAX + 1',
  },
  {
    name: 'one level less is allowed',
    file: 'json-reader.ts',
    from: 'depth > CALL_DEPTH_MAX',
    to: 'depth >= CALL_DEPTH_MAX',
  },
  {
    name: 'a lone surrogate passes',
    file: 'json-reader.ts',
    from: 'if (!value.isWellFormed()) throw new BadJson();',
    to: '',
  },
  {
    name: 'text behind the call passes',
    file: 'json-reader.ts',
    from: 'if (this.#position !== this.#text.length) throw new BadJson();',
    to: '',
  },
  {
    name: 'a byte order mark is eaten',
    file: 'read-call.ts',
    from: 'ignoreBOM: true',
    to: 'ignoreBOM: false',
  },
  {
    name: 'broken UTF-8 is mended',
    file: 'read-call.ts',
    from: 'fatal: true',
    to: 'fatal: false',
  },
  {
    name: 'length counts UTF-16 units',
    file: 'utf8.ts',
    from: 'if (!isLowSurrogate(text.charCodeAt(index))) count += 1;',
    to: 'count += 1;',
  },
  {
    name: '? is one UTF-16 unit',
    file: 'match-text.ts',
    from: 'position += codePoint > 0xffff ? 2 : 1;',
    to: 'position += 1;',
  },
  {
    name: 'case is folded beyond ASCII',
    file: 'utf8.ts',
    from: 'text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())',
    to: 'text.toLowerCase()',
  },
  {
    name: 'roles are sorted by UTF-16 units',
    file: 'typescript-engine.ts',
    from: 'compareUtf8(a.name, b.name)',
    to: '(a.name < b.name ? -1 : 1)',
  },
  {
    name: 'a name is looked up on the prototype, too',
    file: 'evaluate-condition.ts',
    from: 'value.get(step)',
    to: '(Object.fromEntries(value) as Record<string, JsonValue>)[step]',
  },
  {
    name: 'a name opens an array',
    file: 'evaluate-condition.ts',
    from: 'value instanceof Map ? value.get(step) : undefined',
    to: 'value instanceof Map ? value.get(step) : (value as never)?.[step]',
  },
  {
    name: 'an index opens an object',
    file: 'evaluate-condition.ts',
    from: 'Array.isArray(value) ? value[step] : undefined',
    to: 'Array.isArray(value) ? value[step] : value instanceof Map ? value.get(String(step)) : undefined',
  },
  {
    name: 'every holds on what is missing',
    file: 'evaluate-condition.ts',
    from: 'if (!Array.isArray(value)) return false;',
    to: "if (!Array.isArray(value)) return op === 'every';",
  },
  {
    name: 'ne fails on what is missing',
    file: 'evaluate-condition.ts',
    from: 'tests.some((test) => test(value)) !== negated',
    to: 'value !== undefined && tests.some((test) => test(value)) !== negated',
  },
  {
    name: 'the last of the strongest rules decides',
    file: 'typescript-engine.ts',
    from: "fired.find(({ effect }) => effect === 'deny') ?? fired[0]",
    to: "fired.findLast(({ effect }) => effect === 'deny') ?? fired.at(-1)",
  },
  {
    name: 'the first rule decides, whatever its effect',
    file: 'typescript-engine.ts',
    from: "fired.find(({ effect }) => effect === 'deny') ?? fired[0]",
    to: 'fired[0]',
  },
  {
    name: 'approval_by_role comes last',
    file: 'typescript-engine.ts',
    from: '[...start.violations, ...fired.map(({ id, reason }) => `${id}: ${reason}`)]',
    to: '[...fired.map(({ id, reason }) => `${id}: ${reason}`), ...start.violations]',
  },
  {
    name: 'an unknown role falls through to no row',
    file: 'typescript-engine.ts',
    from: "this.#rows.get(call.role) ?? this.#rows.get('*')",
    to: 'this.#rows.get(call.role)',
  },
];
