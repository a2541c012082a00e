/** The fields that decisions are filtered by. '' is the empty value, such as no role. */
const FILTER_NAMES = ['outcome', 'agent', 'role', 'tool', 'user_id', 'session_id'] as const;
export type FilterName = (typeof FILTER_NAMES)[number];
export type FilterParam = FilterName | `not.${FilterName}`;
/** Any of the values of a filter, and none of those of its `not.…`. */
export type Filters = Partial<Record<FilterParam, string[]>>;

export const FILTER_PARAMS: FilterParam[] = FILTER_NAMES.flatMap((name) => [name, `not.${name}` as const]);

export function filtersFrom(query: URLSearchParams): Filters {
  const given = FILTER_PARAMS.map((name) => [name, query.getAll(name)] as const);
  return Object.fromEntries(given.filter(([, values]) => values.length > 0));
}

/** The filters but those of one field: what its own values are counted under. */
export function filtersBut(filters: Filters, name: FilterName): Filters {
  const { [name]: _is, [`not.${name}` as const]: _not, ...others } = filters;
  return others;
}

/** The filters of some fields. */
export function filtersOf(filters: Filters, names: readonly FilterName[]): Filters {
  const wanted = FILTER_PARAMS.filter((param) =>
    names.some((name) => param === name || param === `not.${name}`),
  );
  return Object.fromEntries(wanted.flatMap((param) => (filters[param] ? [[param, filters[param]]] : [])));
}

/** For `hrefWith`: without any filter, and without a search. */
export const NO_FILTERS = Object.fromEntries([...FILTER_PARAMS, 'q'].map((name) => [name, undefined]));
