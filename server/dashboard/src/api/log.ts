import { recall, remember } from '../app/remembered.ts';
import { ApiError } from './api-error.ts';
import { errorFrom } from './request.ts';

/** `isNew`: this browser had not seen a key of this log before. */
export type TrustedKey = { text: string; isNew: boolean; isChanged: boolean };

/** A text of the log of a project. Throws ApiError. */
export async function logText(projectId: string, name: 'checkpoint' | 'vkey'): Promise<string> {
  return (await answerOf(projectId, name)).text();
}

/** A tile of the log of a project, by its path (C2SP tlog-tiles). Throws ApiError. */
export async function logTile(projectId: string, path: string): Promise<Uint8Array> {
  return new Uint8Array(await (await answerOf(projectId, path)).arrayBuffer());
}

async function answerOf(projectId: string, path: string): Promise<Response> {
  const response = await fetch(`/v1/projects/${encodeURIComponent(projectId)}/log/${path}`).catch(() => {
    throw new ApiError({ status: 0, code: 'unreachable', detail: 'The service cannot be reached' });
  });
  if (response.ok) return response;
  throw errorFrom(response, await response.text());
}

/** The first key of a log that this browser saw. If the service later sends a different key, it is not trusted. */
export async function trustedKey(projectId: string): Promise<TrustedKey> {
  const name = `log-key.${projectId}` as const;
  const shown = (await logText(projectId, 'vkey')).trimEnd();
  const known = recall(name);
  if (known === undefined) remember(name, shown);
  return { text: known ?? shown, isNew: known === undefined, isChanged: (known ?? shown) !== shown };
}

/** The names that signed a checkpoint, except for the log itself. */
export function witnessesOf(checkpoint: string): string[] {
  const names = [...checkpoint.matchAll(/^— (\S+) /gmu)].map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => !checkpoint.startsWith(`${name}\n`));
}
