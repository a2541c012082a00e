/** The fields that decisions and model calls are filtered by. '' is the empty value, such as no role. */
const DECISION_FILTERS = ['outcome', 'agent', 'role', 'tool', 'user_id', 'session_id', 'reason'] as const;
export const CALL_FILTERS = ['agent', 'model', 'user_id', 'session_id'] as const;
export type FilterName = (typeof DECISION_FILTERS | typeof CALL_FILTERS)[number];
type FilterParam = FilterName | `not.${FilterName}`;
/** Any of the values of a filter, and none of those of its `not.…`. */
export type Filters = Partial<Record<FilterParam, string[]>>;

export const FILTER_PARAMS = paramsOf([...DECISION_FILTERS, 'model']);

function paramsOf(names: readonly FilterName[]): FilterParam[] {
  return names.flatMap((name) => [name, `not.${name}` as const]);
}

/** The filters of some fields in an address; of decisions by default. */
export function filtersFrom(
  query: URLSearchParams,
  names: readonly FilterName[] = DECISION_FILTERS,
): Filters {
  const given = paramsOf(names).map((name) => [name, query.getAll(name)] as const);
  return Object.fromEntries(given.filter(([, values]) => values.length > 0));
}

/** The filters except those of one field, for the counts of that field's values. */
export function filtersBut(filters: Filters, name: FilterName): Filters {
  const { [name]: _is, [`not.${name}` as const]: _not, ...others } = filters;
  return others;
}

/** What both filters let through. If the values of a field have none in common, one is both wanted and excluded. */
export function narrowed(filters: Filters, only: Filters): Filters {
  const all: Filters = { ...filters, ...only };
  for (const name of DECISION_FILTERS) {
    const outside = (only[name] ?? []).filter((value) => filters[name]?.includes(value) === false);
    const excluded = [filters, only].flatMap((each) => each[`not.${name}`] ?? []).concat(outside);
    if (excluded.length > 0) all[`not.${name}`] = [...new Set(excluded)];
  }
  return all;
}

/** For `hrefWith`: without any filter, and without a search. */
export const NO_FILTERS = Object.fromEntries([...FILTER_PARAMS, 'q'].map((name) => [name, undefined]));
