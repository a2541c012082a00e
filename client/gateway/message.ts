import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../json.ts';
import { decimalFrom } from '../policy/language/decimal.ts';

/** A JSON-RPC message. Only the fields that the gateway reads. */
export type Message = {
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: unknown;
};

/** Why a message is refused; `id` is that of the message, if it has one. */
export type Refusal = { id: unknown; code: number; problem: string };

type ReadMessage = { ok: true; message: Message } | ({ ok: false } & Refusal);

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

const KEYS = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];

// Keeps a byte order mark, which JSON.parse then refuses.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a line of the client so that no server can read it as another message: another parser may take the first of two equal
 * keys, keys in any case, or NaN.
 */
export function readMessage(line: Uint8Array): ReadMessage {
  let text: string;
  let value: unknown;
  try {
    text = decoder.decode(line);
    value = JSON.parse(text);
  } catch {
    return { ok: false, id: null, code: PARSE_ERROR, problem: 'The message is not JSON' };
  }
  const problem = problemOf(text, value);
  if (problem === undefined) return { ok: true, message: value as Message };
  const id = isObject(value) ? (value['id'] ?? null) : null;
  return {
    ok: false,
    id,
    code: INVALID_REQUEST,
    problem: `The gateway does not take this message: ${problem}`,
  };
}

function problemOf(text: string, value: unknown): string | undefined {
  if (Array.isArray(value)) return 'it is a batch';
  if (!isObject(value)) return 'it is not an object';
  if (text.trimEnd().includes('\r')) return 'it has a carriage return';
  if (isMisspelt(value, KEYS)) return 'a key differs in case';
  const { method, params, id } = value;
  const isCall = method === 'tools/call';
  const ambiguity = ambiguityOf(text, isCall);
  if (ambiguity !== undefined || !isCall) return ambiguity;
  if (!isObject(params)) return 'tools/call needs params';
  if (isMisspelt(params, ['name', 'arguments', 'task', '_meta'])) return 'a key of params differs in case';
  // A call without an id gets no answer, so its caller could not learn of a denial.
  return typeof id === 'string' || typeof id === 'number' ? undefined : 'tools/call needs an id';
}

function isMisspelt(value: object, names: readonly string[]): boolean {
  return Object.keys(value).some((key) => !names.includes(key) && names.includes(folded(key)));
}

/**
 * Whether a client may take this message for another one than the gateway does, because its parser accepts keys in any case. It could read a
 * list of tools in it.
 */
export function isAmbiguous(message: unknown): boolean {
  if (!isObject(message)) return false;
  const { result } = message;
  return isMisspelt(message, KEYS) || (isObject(result) && isMisspelt(result, ['tools']));
}

/** Folds like parsers that accept keys in any case. Go's, for example, takes \u017f for s and \u212a for k. */
function folded(key: string): string {
  return key.toUpperCase().toLowerCase();
}

/** In valid JSON: punctuation, the beginning of a string, or a number or word. */
const TOKEN = /[{}[\],:"]|[^\s{}[\],:"]+/g;

/**
 * Why different parsers may read this JSON differently: equal keys in one object or, within a call, keys that differ only in case. A call
 * is serialized again, so it must not contain a number that JavaScript would round. For other messages, only the outermost keys count.
 */
function ambiguityOf(text: string, isCall: boolean): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let isKey = false;
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(text); found !== null; found = TOKEN.exec(text)) {
    const [token] = found;
    const keys = open.at(-1);
    if (token === '"') {
      TOKEN.lastIndex = stringEnd(text, found.index);
      if (!isKey || !keys || !(isCall || open.length === 1)) continue;
      const key = JSON.parse(text.slice(found.index, TOKEN.lastIndex)) as string;
      const known = isCall ? folded(key) : key;
      if (keys.has(known)) return `it has the key ${JSON.stringify(key)} twice`;
      keys.add(known);
    } else if (token === '{' || token === '[') open.push(token === '{' ? new Set() : undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (isCall && /^[-\d]/.test(token) && !isExact(token))
      return `it has the number ${token}, which JavaScript would round`;
    if (token !== '"') isKey = token === '{' || (token === ',' && open.at(-1) !== undefined);
  }
  return undefined;
}

/** Written by hand, because a regular expression for strings uses stack for each escape. */
function stringEnd(text: string, start: number): number {
  for (let end = start; ;) {
    end = text.indexOf('"', end + 1);
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
}

/** Whether JavaScript can write this number without changing its value. */
function isExact(word: string): boolean {
  const written = Number(word);
  return Number.isFinite(written) && isDeepStrictEqual(decimalFrom(word), decimalFrom(String(written)));
}
