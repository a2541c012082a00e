import { isObject } from '../json.ts';

/** A JSON-RPC message. Only the fields that the gateway reads. */
export type Message = {
  id?: unknown;
  method?: unknown;
  params?: unknown;
  result?: unknown;
  error?: unknown;
};

/** Why a message is refused; `id` is that of the message, where it has one. */
export type Refusal = { id: unknown; code: number; problem: string };

export type ReadMessage = { ok: true; message: Message } | ({ ok: false } & Refusal);

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

const decoder = new TextDecoder('utf-8', { fatal: true });

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
  if (isMisspelt(value, ['jsonrpc', 'id', 'method', 'params', 'result', 'error']))
    return 'a key differs in case';
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
  return Object.keys(value).some((key) => !names.includes(key) && names.includes(key.toLowerCase()));
}

/** In valid JSON: a string, punctuation, or a number or word. */
const TOKEN = /\s*(?:("[^"\\]*(?:\\.[^"\\]*)*")|([{}[\],:])|([^\s{}[\],:"]+))/gy;

/**
 * Why this JSON does not mean the same to every parser: equal keys in one object. A call is written anew, so it may not have a
 * number that JavaScript would round; of other messages only the outermost keys count.
 */
function ambiguityOf(text: string, isCall: boolean): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let isKey = false;
  for (const [, string, mark, word] of text.matchAll(TOKEN)) {
    const keys = open.at(-1);
    if (string !== undefined && isKey && keys && (isCall || open.length === 1)) {
      const key = JSON.parse(string) as string;
      if (keys.has(key)) return `it has the key ${JSON.stringify(key)} twice`;
      keys.add(key);
    } else if (mark === '{' || mark === '[') open.push(mark === '{' ? new Set() : undefined);
    else if (mark === '}' || mark === ']') open.pop();
    else if (word !== undefined && isCall && !isExact(word))
      return `it has the number ${word}, which is too long`;
    if (mark !== undefined) isKey = mark === '{' || (mark === ',' && open.at(-1) !== undefined);
  }
  return undefined;
}

function isExact(word: string): boolean {
  if (/^[tfn]/.test(word)) return true;
  const number = Number(word);
  if (!Number.isFinite(number)) return false;
  return !/^-?\d{16,}$/.test(word) || BigInt(word) === BigInt(number);
}
