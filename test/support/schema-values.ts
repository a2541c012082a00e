import fc from 'fast-check';

/** The parts of JSON Schema that the OpenAPI document uses. */
type Schema = {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
};

/** Longer texts and lists find nothing more than these, and take time. */
const LENGTH_MAX = 300;
const ITEMS_MAX = 4;

/** Values that break careless code: prototypes, control characters, lone surrogates, edges of numbers, deep nesting. */
const NASTY = [
  '',
  '\0',
  '\ud800',
  '\u2028\u202e',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  "'; DROP TABLE decisions; --",
  '{x: String}',
  '%00',
  '=1+1',
  'x'.repeat(10_000),
  -0,
  -1,
  1e308,
  2 ** 53,
  0.1,
  null,
  true,
  [],
  {},
  ...['[', '{"a":'].map((open) => nested(open, 200)),
];

function nested(open: string, depth: number): unknown {
  const close = open === '[' ? ']' : '}';
  return JSON.parse(`${open.repeat(depth)}0${close.repeat(depth)}`);
}

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Values that a schema accepts, except for formats that depend on the environment, such as times that are not too old. */
export function validValue(schema: Schema): fc.Arbitrary<unknown> {
  const { enum: values, anyOf, type = 'object' } = schema;
  if (values !== undefined) return fc.constantFrom(...values);
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(validValue));
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => validValue({ ...schema, type: one })));
  return BY_TYPE[type]?.(schema) ?? fc.constant(null);
}

const BY_TYPE: Record<string, (schema: Schema) => fc.Arbitrary<unknown>> = {
  string: text,
  integer: ({ minimum = 0, maximum = 2 ** 31 - 1 }) =>
    fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31 - 1) }),
  number: ({ minimum = 0 }) => fc.double({ min: minimum, max: 1e6, noNaN: true }),
  boolean: () => fc.boolean(),
  array: ({ items = {}, minItems = 0, maxItems = ITEMS_MAX }) =>
    fc.array(validValue(items), { minLength: minItems, maxLength: Math.min(maxItems, ITEMS_MAX) }),
  object: ({ properties = {}, required = [] }) => {
    const values = Object.entries(properties).map(([name, one]) => [name, validValue(one)] as const);
    return fc.record(Object.fromEntries(values), { requiredKeys: required });
  },
};

function text({ format, pattern, minLength = 0, maxLength = LENGTH_MAX }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') {
    const hourAgo = Date.now() - 3_600_000;
    return fc.integer({ min: 0, max: 3_600_000 }).map((ms) => new Date(hourAgo + ms).toISOString());
  }
  if (format === 'email') return fc.uuid().map((id) => `${id}@example.com`);
  const bounds = { minLength, maxLength: Math.min(maxLength, LENGTH_MAX) };
  if (pattern === undefined || pattern.includes('\\u0000')) return fc.string({ unit: 'grapheme', ...bounds });
  return fc.stringMatching(new RegExp(pattern));
}

/** The value with one defect somewhere in it: a key is missing, or a part is something else. */
export function nearlyValid(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return hostileValue;
  return fc.constantFrom(...Object.keys(value)).chain((key) => {
    const part = (value as Record<string, unknown>)[key];
    const changed = (inner: unknown) =>
      Array.isArray(value) ? value.with(Number(key), inner) : { ...value, [key]: inner };
    const { [key]: _removed, ...rest } = value as Record<string, unknown>;
    return fc.oneof(fc.constant(rest), hostileValue.map(changed), nearlyValid(part).map(changed));
  });
}
