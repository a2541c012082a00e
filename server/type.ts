import type * as TypeBox from 'typebox';

type Schema = Record<string, unknown>;

const optional = new WeakSet<object>();

const isRequired = ([, schema]: [string, Schema]) => !optional.has(schema);

const builders = {
  String: (options?: Schema) => ({ type: 'string', ...options }),
  Integer: (options?: Schema) => ({ type: 'integer', ...options }),
  Number: (options?: Schema) => ({ type: 'number', ...options }),
  Boolean: (options?: Schema) => ({ type: 'boolean', ...options }),
  Null: (options?: Schema) => ({ type: 'null', ...options }),
  Unknown: (options?: Schema) => ({ ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
  Literal: (value: string | number, options?: Schema) => ({ type: typeof value, const: value, ...options }),
  Enum: (values: readonly string[], options?: Schema) => ({ enum: values, ...options }),
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Union: (anyOf: Schema[], options?: Schema) => ({ anyOf, ...options }),
  Record: (key: { pattern?: string }, value: Schema, options?: Schema) => ({
    type: 'object',
    patternProperties: { [key.pattern ?? '^.*$']: value },
    ...options,
  }),
  Object: (properties: Record<string, Schema>, options?: Schema) => {
    const required = Object.entries(properties)
      .filter(isRequired)
      .map(([name]) => name);
    return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options };
  },
  /** Marks a property that may be left out. */
  Optional: (schema: Schema) => {
    const copy = { ...schema };
    optional.add(copy);
    return copy;
  },
};

/**
 * The builders of TypeBox that are used here, with its types. The library itself has 373 modules, and loading them would take an eighth of
 * the processor time of a start.
 */
export const Type = builders as unknown as Pick<typeof TypeBox.Type, keyof typeof builders>;
