/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** An object with exactly these keys, all of them always there. */
export function exactObject(
  properties: Record<string, JsonSchema>,
  optional: Record<string, JsonSchema> = {},
): JsonSchema {
  return {
    type: 'object',
    required: Object.keys(properties),
    properties: { ...properties, ...optional },
    additionalProperties: false,
  };
}

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

export const STRING = { type: 'string' } as const;
export const COUNT = { type: 'integer', minimum: 0 } as const;
export const BOOLEAN = { type: 'boolean' } as const;
export const UUID = { type: 'string', format: 'uuid' } as const;
export const TIME = {
  type: 'string',
  format: 'date-time',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
} as const;

/** Formats of our own, said in words that every validator knows. */
const OWN_FORMATS: Record<string, JsonSchema> = {
  text: { pattern: '^[^\\u0000]*$' },
  'agent-name': { pattern: '^[^/\\u0000-\\u001f\\u007f-\\u009f]+$' },
  'tool-name': {},
};

/** A schema that validates requests here, as it is told to others. */
export function publicSchema(schema: unknown): JsonSchema {
  return told(schema) as JsonSchema;
}

function told(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(told);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, told(inner)]);
  const { format, ...rest } = Object.fromEntries(entries) as Record<string, unknown>;
  const own = typeof format === 'string' ? OWN_FORMATS[format] : undefined;
  if (own !== undefined) return { ...own, ...rest };
  return format === undefined ? rest : { ...rest, format };
}
