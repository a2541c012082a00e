import type { ConfigureOptions } from './audit/gates.ts';
import { ValueError } from './errors.ts';
import type { GovernOptions } from './govern/govern.ts';
import { isObject } from './json.ts';
import type { ResolveOptions } from './policy/resolve-policy.ts';

type AnyOptions = GovernOptions & ConfigureOptions & ResolveOptions;

/** Every option of the package with the types that its value may have. One object may serve several of its functions. */
const OPTIONS: Record<keyof AnyOptions, string> = {
  agentName: 'string',
  apiKey: 'string',
  approvalTimeoutMs: 'number',
  auditKey: 'string',
  baseUrl: 'string',
  batch: 'boolean or object',
  bindPolicy: 'boolean',
  client: 'object',
  key: 'string',
  localPolicy: 'string',
  logger: 'object or function',
  onApproval: 'function',
  passThrough: 'function',
  policy: 'string',
  policyKey: 'string',
  publicKey: 'string or object',
  requireSignature: 'boolean',
  role: 'string',
  sessionId: 'string',
  signal: 'object',
  stateDir: 'string',
  timeoutMs: 'number',
  toolNames: 'array',
  userId: 'string',
};

/** Throws a ValueError for what is not an object of options, before its parts are named. */
export function requireOptions<Options extends object>(of: string, options: Options): Options {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new ValueError(`${of} takes an object of options`);
  return options;
}

/** The options with each key under both of its names. Throws a ValueError for an unknown option or a value of the wrong type. */
export function checkedOptions<Options extends object>(of: string, options: Options): Options {
  for (const [name, value] of Object.entries(requireOptions(of, options))) {
    if (value === undefined) continue;
    if (Object.hasOwn(OPTIONS, name)) {
      checkType(`${of}: ${name}`, OPTIONS[name as keyof AnyOptions], value);
      if (name === 'timeoutMs' && value !== null && !(value > 0))
        throw new ValueError(`${of}: timeoutMs must be a number of milliseconds above 0`);
      continue;
    }
    const meant = nearestOption(name);
    throw new ValueError(`${of} has no option ${name}${meant ? `; did you mean ${meant}?` : ''}`);
  }
  const { key, policyKey, apiKey, auditKey } = options as Partial<AnyOptions>;
  return {
    ...options,
    ...bothNames('key', 'policyKey', [key, policyKey]),
    ...bothNames('apiKey', 'auditKey', [apiKey, auditKey]),
  };
}

/** Null counts as absent. */
export function checkType(of: string, types: string, value: unknown): void {
  const type = Number.isNaN(value) ? 'NaN' : Array.isArray(value) ? 'array' : typeof value;
  if (value !== null && !types.split(' or ').includes(type))
    throw new ValueError(`${of} must be of type ${types}, not ${type}`);
}

/** Without a trailing newline, as read from a file: a header cannot contain it. */
function bothNames(name: string, alias: string, values: (string | undefined)[]): object {
  const [value, other] = values.map((one) => one?.trim());
  if (value !== undefined && other !== undefined && value !== other)
    throw new ValueError(`${name} and ${alias} are the same option, and have different values`);
  if (other !== undefined) return { [name]: other, [alias]: other };
  return value === undefined ? {} : { [name]: value };
}

/** The option with the most similar name. */
function nearestOption(name: string): string | undefined {
  const plain = (text: string): string => text.replaceAll(/[_-]/g, '').toLowerCase();
  const [best] = Object.keys(OPTIONS)
    .map((option) => ({ option, distance: editDistance(plain(name), plain(option)) }))
    .toSorted((a, b) => a.distance - b.distance);
  return best && best.distance <= 3 && best.distance < name.length / 2 ? best.option : undefined;
}

/** The Levenshtein distance: insertions, deletions and replacements of one character. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, character] of a.split('').entries()) {
    const next = [index + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (character === b[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Throws a ValueError that says what `govern` takes, and which function takes tools of the AI SDK. */
export function checkAgent(agent: unknown): void {
  const { tools, run } = Object(agent) as { tools?: unknown; run?: unknown };
  if (typeof run !== 'function')
    throw new ValueError(
      'govern takes an agent: { name, tools: { search: (args) => … }, run: ({ tools }, input) => … }',
    );
  for (const [name, tool] of entriesOf(tools, 'functions by name, as { search: (args) => … }')) {
    if (!isObject(tool) || !('execute' in tool)) continue;
    throw new ValueError(
      `tools.${name} is an object with execute: use governTools of @gatehouse/client/ai-sdk for tools of the AI SDK, or give its function`,
    );
  }
}

/** Throws a ValueError that says what tools must look like, and which function takes the given ones. */
export function checkSdkTools(tools: unknown): void {
  for (const [name, tool] of entriesOf(tools, 'AI SDK tools by name, as { search: tool({ … }) }')) {
    if (typeof tool === 'object' && tool !== null) continue;
    throw new ValueError(
      `tools.${name} must be a tool of the AI SDK, as tool({ inputSchema, execute }); govern takes plain functions`,
    );
  }
}

function entriesOf(tools: unknown, what: string): [string, unknown][] {
  if (isObject(tools)) return Object.entries(tools);
  throw new ValueError(`tools must be an object of ${what}`);
}
