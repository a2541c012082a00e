import type { parsePolicy } from './language/parse-policy.ts';

type Parse = typeof parsePolicy;

let parse: Parse | undefined;

/** Loads the parser of YAML policies, which an agent with a signed module does not need. */
export async function loadParser(): Promise<void> {
  parse ??= await withRequire(async () => (await import('./language/parse-policy.ts')).parsePolicy);
}

/** Throws before `loadParser`. */
export function parserOfPolicies(): Parse {
  if (parse === undefined) throw new Error('The parser of policies is not loaded');
  return parse;
}

/** The YAML parser is CommonJS and requires modules of Node: an ESM bundle has no `require`. */
async function withRequire<T>(load: () => Promise<T>): Promise<T> {
  const scope = globalThis as { require?: unknown };
  const isInBundle = !/\/load-parser\.[jt]s$/.test(import.meta.url ?? '');
  if (!isInBundle || scope.require !== undefined) return load();
  scope.require = (name: string) => process.getBuiltinModule(name);
  try {
    return await load();
  } finally {
    delete scope.require;
  }
}
