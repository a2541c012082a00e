import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors.ts';
import type { BearerKeys } from '../keys/bearer-keys.ts';
import { authenticate } from './authenticate.ts';

/** Passes with a bearer key of that project; tells who it is. Rejects with unauthenticated or forbidden. */
export async function authorizeKey(
  req: IncomingMessage,
  projectId: string,
  keys: BearerKeys,
): Promise<string> {
  const { project_id, key_id } = await authenticate(req, keys);
  // The same words whether or not the project exists.
  if (project_id !== projectId) throw new RequestError('forbidden', 'This key is not one of that project');
  return `key ${key_id}`;
}
