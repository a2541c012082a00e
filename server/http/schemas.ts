import type { TProperties, TSchema, TUnsafe } from 'typebox';
import { Type } from '../type.ts';

/** An object with exactly these keys, as the service sends it. With a name, it becomes a component of the OpenAPI document. */
export function answer<T extends TProperties>(properties: T, name?: string) {
  return Type.Object(properties, {
    additionalProperties: false,
    ...(name === undefined ? {} : { $id: name }),
  });
}

export function listOf<T extends TSchema>(schema: T) {
  return answer({ items: Type.Array(schema) });
}

export function oneOf<const T extends string>(values: readonly T[], options: object = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ type: 'string', enum: values, ...options });
}

export function nullable<T>(type: 'string' | 'integer' | 'object', options: object = {}): TUnsafe<T | null> {
  return Type.Unsafe<T | null>({ ...options, type: [type, 'null'] });
}

export const STRING = Type.String();
export const COUNT = Type.Integer({ minimum: 0 });
export const BOOLEAN = Type.Boolean();
export const UUID = Type.String({ format: 'uuid' });
const TIME_FORMAT = { format: 'date-time', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' };
export const TIME = Type.String(TIME_FORMAT);
export const NULLABLE_TIME = nullable<string>('string', TIME_FORMAT);
export const NULLABLE_OBJECT = nullable<Record<string, unknown>>('object');

/** The query parameters of a paged list, and how its answer leads to the next page. */
export const PAGE = {
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'The length of a page' }),
  cursor: Type.Optional(Type.String({ description: 'The `next_cursor` of the page before' })),
};
export const NEXT_CURSOR = nullable<string>('string', { description: 'For `cursor`; null on the last page' });

export const PROJECT_ID = Type.String({ description: 'The id of a project' });
