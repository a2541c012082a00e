import { oneOf } from '../http/schemas.ts';
import { FILTER_VALUES_MAX, SEARCH_CHARS_MAX } from '../limits.ts';
import { OUTCOMES } from '../ingest/decision-event.ts';
import { text } from '../validate.ts';
import { Type } from '../type.ts';

export const FILTER_NAMES = ['agent', 'role', 'outcome', 'tool', 'user_id', 'session_id', 'reason'] as const;
export type FilterName = (typeof FILTER_NAMES)[number];
/** Model calls have no outcome and no tool. */
const INVOCATION_FILTER_NAMES = ['agent', 'model', 'role', 'user_id', 'session_id'] as const;
type AnyFilterName = FilterName | (typeof INVOCATION_FILTER_NAMES)[number];
type ParamName = AnyFilterName | `not_${AnyFilterName}` | 'q';

/**
 * Any of the values of a filter, and none of those of its `not_…`; an empty list does not filter. '' is the empty value. `q` has at most
 * one text, which the reason or the arguments contain.
 */
export type DecisionFilters = Record<ParamName, readonly string[]>;

const value = Type.String({ format: 'text' });
const outcome = oneOf(OUTCOMES);

function listOf<S extends typeof value | typeof outcome>(items: S, description: string) {
  return Type.Optional(Type.Array(items, { maxItems: FILTER_VALUES_MAX, description }));
}

const ANY =
  'Records with this value; if repeated, with any of the values. Empty: records where the field is empty.';
const NONE = 'Records without this value; if repeated, without any of the values';

/** The query parameters of a filter: `agent` and `not.agent`. */
function parametersOf<N extends AnyFilterName>(names: readonly N[]) {
  type Schema<Name> = ReturnType<typeof listOf<Name extends 'outcome' ? typeof outcome : typeof value>>;
  const schemas = names.flatMap((name) => {
    const items = name === 'outcome' ? outcome : value;
    return [
      [name, listOf(items, ANY)],
      [`not.${name}`, listOf(items, NONE)],
    ];
  });
  return Object.fromEntries(schemas) as { [Name in N | `not.${N}`]: Schema<Name> };
}

export const FILTERS = parametersOf(FILTER_NAMES);
export const SEARCH = {
  q: Type.Optional(
    text(SEARCH_CHARS_MAX, {
      minLength: 1,
      description:
        'Records whose `reason`, or the JSON text of whose `arguments`, contains this text in any case',
    }),
  ),
};
export const INVOCATION_FILTERS = parametersOf(INVOCATION_FILTER_NAMES);
/** The sums of model calls by hour have no role. */
export const USAGE_FILTERS = parametersOf(['agent', 'user_id', 'session_id']);

/** The filters of a query. Missing ones do not filter. */
export function filtersFrom(query: Partial<Record<string, unknown>>): DecisionFilters {
  const given = [...FILTER_NAMES, 'model'].flatMap((name) => [
    [name, query[name] ?? []],
    [`not_${name}`, query[`not.${name}`] ?? []],
  ]);
  const q = query['q'] === undefined ? [] : [query['q']];
  return Object.fromEntries([...given, ['q', q]]) as DecisionFilters;
}

export const NO_FILTERS = filtersFrom({});

export function isFiltered(filters: DecisionFilters): boolean {
  return Object.values(filters).some(({ length }) => length > 0);
}

/** Whether the projections by day and hour have the columns of all filters. */
export function areInProjections(filters: DecisionFilters): boolean {
  const others = ['user_id', 'session_id', 'reason'] as const;
  return (
    filters.q.length === 0 &&
    others.every((name) => filters[name].length + filters[`not_${name}`].length === 0)
  );
}
