import type { QueryParam, QueryParams } from './bind-params.ts';

const OPTIONAL = /\n(.*) -- optional: (\w+(?:, \w+)*)$/gm;
const GUARD = /(?:\{\w+: [^}]*\} IS NULL|empty\(\{\w+: [^}]*\}\)) OR /;

/**
 * Drops a line marked `-- optional: name` if that parameter (or one of several) is null or an empty list. Otherwise, drops only its `IS
 * NULL OR` or `empty(…) OR`. The answer stays the same, but the engine would evaluate both for every row, and plan every part of the
 * statement: reads would take up to a third longer.
 */
export function dropOptionalConditions(sql: string, params: QueryParams): string {
  return sql.replace(OPTIONAL, (_line, condition: string, names: string) =>
    names.split(', ').some((name) => isAbsent(params[name])) ? '' : `\n${condition.replace(GUARD, '')}`,
  );
}

function isAbsent(value: QueryParam | undefined): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}
