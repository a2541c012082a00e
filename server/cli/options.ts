import { parseArgs } from 'node:util';
import { KEY_DAYS_MAX } from '../limits.ts';
import { type Role, ROLES } from '../rights.ts';
import { CommandError, UsageError } from './command-error.ts';

const TEXT = { type: 'string' } as const;
const TEXTS = {
  name: TEXT,
  project: TEXT,
  key: TEXT,
  days: TEXT,
  email: TEXT,
  role: TEXT,
  window: TEXT,
  to: TEXT,
  from: TEXT,
  scope: TEXT,
  url: TEXT,
  bearer: TEXT,
  export: TEXT,
  proofs: TEXT,
  log: TEXT,
  vkey: TEXT,
  state: TEXT,
  receipts: TEXT,
  at: TEXT,
};
const LISTS = { agent: { type: 'string', multiple: true } } as const;
const FLAGS = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

/** A JWK thumbprint (RFC 7638, SHA-256) in base64url. */
const KEY_ID_WITH_DASH = /^-[\w-]{42}$/;

/** The options of a command line, as they were given. */
export type Options = Partial<
  Record<keyof typeof TEXTS, string> &
    Record<keyof typeof LISTS, string[]> &
    Record<keyof typeof FLAGS, boolean>
>;

/** The command is everything before the first option. */
export function splitCommandLine(args: string[]): { name: string; rest: string[] } {
  const first = args.findIndex((arg) => arg.startsWith('-'));
  const end = first < 0 ? args.length : first;
  return { name: args.slice(0, end).join(' '), rest: args.slice(end) };
}

/** Throws an error of parseArgs for an option that the command does not take. */
export function parseOptions({ usage }: { usage: string }, args: string[]): Options {
  const named = Object.entries({ ...TEXTS, ...LISTS }).filter(([name]) => usage.includes(`--${name} `));
  const { values, tokens } = parseArgs({
    args: bindKeyIds(args),
    options: { ...Object.fromEntries(named), ...FLAGS },
    tokens: true,
  });
  const given = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const twice = given.find((name, at) => given.indexOf(name) < at && !Object.hasOwn(LISTS, name));
  if (twice !== undefined) throw new UsageError(`--${twice} is given twice.`);
  return values;
}

/** Every 64th key ID begins with a dash. Then parseArgs needs it as a part of the option before it. */
function bindKeyIds(args: string[]): string[] {
  const bound: string[] = [];
  for (const arg of args) bound.push(KEY_ID_WITH_DASH.test(arg) ? `${bound.pop() ?? ''}=${arg}` : arg);
  return bound;
}

/** Throws a UsageError if the option is missing or empty. */
export function required(options: Options, name: keyof typeof TEXTS): string {
  const value = options[name];
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing.`);
  return value;
}

/** Undefined: the key does not expire. */
export function daysOf({ days }: Options): number | undefined {
  if (days === undefined) return undefined;
  if (/^\d{1,5}$/.test(days) && Number(days) > 0 && Number(days) <= KEY_DAYS_MAX) return Number(days);
  throw new CommandError(`--days must be a whole number from 1 to ${KEY_DAYS_MAX}, not "${days}".`);
}

/** Editor by default. */
export function roleOf({ role = 'editor' }: Options): Role {
  const known = ROLES.find((one) => one === role);
  if (known === undefined)
    throw new CommandError(`--role must be one of ${ROLES.join(', ')}, not "${role}".`);
  return known;
}
