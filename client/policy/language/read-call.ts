import type { Unreadable } from './decision.ts';
import { BadJson, readJson } from './json-reader.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { CALL_BYTES_MAX } from './limits.ts';
import { utf8Length } from './utf8.ts';

type ReadCall =
  { ok: true; tool: string; role: string; args: JsonObject | null } | { ok: false; code: Unreadable };

/** Parses a call. Without a role it has the empty role. */
export function readCall(call: string | Uint8Array): ReadCall {
  if (isTooLarge(call)) return { ok: false, code: 'too_large' };
  try {
    return callFrom(readJson(textFrom(call)));
  } catch (error) {
    if (error instanceof BadJson) return { ok: false, code: 'bad_json' };
    throw error;
  }
}

function isTooLarge(call: string | Uint8Array): boolean {
  if (typeof call !== 'string') return call.length > CALL_BYTES_MAX;
  // A UTF-16 unit takes one to three bytes, so most texts need no counting.
  if (call.length > CALL_BYTES_MAX) return true;
  return call.length * 3 > CALL_BYTES_MAX && utf8Length(call) > CALL_BYTES_MAX;
}

// ignoreBOM keeps a byte order mark in the text, so that the reader refuses it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textFrom(call: string | Uint8Array): string {
  if (typeof call === 'string') return call;
  try {
    return decoder.decode(call);
  } catch {
    throw new BadJson();
  }
}

function callFrom(value: JsonValue): ReadCall {
  if (!(value instanceof Map)) return { ok: false, code: 'bad_call' };
  const tool = value.get('tool');
  const role = value.has('role') ? value.get('role') : '';
  const args = value.get('arguments') ?? null;
  if (typeof tool !== 'string' || typeof role !== 'string') return { ok: false, code: 'bad_call' };
  if (args !== null && !(args instanceof Map)) return { ok: false, code: 'bad_call' };
  return { ok: true, tool, role, args };
}
