/** A value of a typed parameter `{name: Type}`. */
export type QueryParam = string | number | null | readonly string[];
export type QueryParams = Record<string, QueryParam>;

/**
 * Puts a SET of the parameters before a statement, for the embedded engine. Done by hand, because chdb's own binding shares parameters
 * across the process and so runs statements with parameters one at a time: a slow report would delay the write path. A SET belongs to its
 * connection. The values are string literals, in which only `\` and `'` are special.
 */
export function withParamsSet(sql: string, params: QueryParams): string {
  const settings = Object.entries(params).map(
    ([name, value]) => `param_${name} = ${literal(paramText(value))}`,
  );
  return settings.length === 0 ? sql : `SET ${settings.join(', ')}; ${sql}`;
}

/** The text of a value as the engine reads parameters: TabSeparated, with arrays as literals. */
function paramText(value: QueryParam): string {
  if (value === null) return '\\N';
  if (typeof value === 'string') return escapeTabSeparated(value);
  if (typeof value === 'number') return String(value);
  return `[${value.map(literal).join(', ')}]`;
}

const TAB_SEPARATED: Record<string, string> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
};

function escapeTabSeparated(text: string): string {
  return text.replace(/[\\\t\n\r\0]/g, (character) => TAB_SEPARATED[character] ?? '');
}

function literal(text: string): string {
  return `'${text.replace(/[\\']/g, (character) => `\\${character}`).replaceAll('\0', '\\0')}'`;
}
