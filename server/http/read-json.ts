import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { readJsonText } from './read-body.ts';

/** Reads and parses a JSON body of at most 1 MiB. Throws body_invalid or body_too_large. */
export async function readJson<T>(req: IncomingMessage, parse: (value: unknown) => T): Promise<T> {
  return parse(quietJson(await readJsonText(req, BODY_BYTES_MAX)));
}

/** As `readJson`, with the text, for who needs its numbers digit for digit. */
export async function readJsonWithText<T>(
  req: IncomingMessage,
  parse: (value: unknown) => T,
): Promise<{ body: T; text: string }> {
  const text = await readJsonText(req, BODY_BYTES_MAX);
  return { body: parse(quietJson(text)), text };
}

/** The engine's own message would quote the text, and the text may hold a password. */
function quietJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestError('body_invalid', 'The body is not valid JSON');
  }
}
