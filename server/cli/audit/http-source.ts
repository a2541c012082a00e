import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { readText } from '../../../client/policy/http-request.ts';
import { CommandError } from '../command-error.ts';
import type { Progress } from './progress.ts';

const TRIES_MAX = 5;
const RETRY_MS = 2_000;
const PROBLEM_BYTES_MAX = 64 * 1024;
/** A checkpoint, a key, or all root keys there ever were. */
const TEXT_BYTES_MAX = 4 * 1024 * 1024;

/** A project of a running service, read over HTTP. */
export type Source = { url: string; projectId: string; bearer?: string | undefined };

/** The answer to GET, undefined for 404. Retries if the service is busy. Throws a CommandError. */
async function get({ url, projectId, bearer }: Source, path: string): Promise<Response | undefined> {
  const base = url.replace(/\/+$/, '');
  const address = path.startsWith('/')
    ? `${base}${path}`
    : `${base}/v1/projects/${encodeURIComponent(projectId)}/${path}`;
  const headers = bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` };
  for (let tries = 1; ; tries += 1) {
    const response = await ask(address, headers);
    if (response.ok) return response;
    const { code, detail } = await problemOf(response);
    if (response.status === 404) return undefined;
    if (response.status !== 503 || code === 'log_key_mismatch' || tries === TRIES_MAX)
      throw new CommandError(
        `${address} answered ${response.status}${hintOf(response.status, code, detail)}`,
      );
    await sleep(RETRY_MS);
  }
}

async function ask(address: string, headers: Record<string, string>): Promise<Response> {
  try {
    return await fetch(address, { headers });
  } catch (error) {
    const { cause, message } = error as Error;
    throw new CommandError(
      `${address} cannot be reached: ${(cause as Error | undefined)?.message ?? message}`,
    );
  }
}

type Problem = { code: string | undefined; detail: string };

/**
 * The code of a problem and its detail; no code for any other answer, and for one that breaks off or does not end. Only printable ASCII,
 * because the service may be hostile and a terminal obeys control characters.
 */
async function problemOf({ body }: Response): Promise<Problem> {
  const text = await readText(body ?? [], PROBLEM_BYTES_MAX).catch(() => '');
  return {
    code: /"code":"([a-z_]+)"/.exec(text)?.[1],
    detail: /"detail":"([ !#-[\]-~]+)"/.exec(text)?.[1] ?? '',
  };
}

function hintOf(status: number, code: string | undefined, detail: string): string {
  if (status === 401 || status === 403)
    return '. Give a key of the project with the right read_audit: GATE_API_KEY=KEY, or --bearer KEY.';
  if (code === undefined) return '.';
  return detail === '' ? `: ${code}.` : `: ${code}. ${detail.replace(/\.$/, '')}.`;
}

/** Throws a CommandError if it does not exist, breaks off or does not end. */
export async function fetchText(source: Source, path: string): Promise<string> {
  const response = await get(source, path);
  if (response === undefined)
    throw new CommandError(`${source.url} has no ${path}. Is it a Gatehouse with a log?`);
  return readText(response.body ?? [], TEXT_BYTES_MAX).catch((error: unknown) => {
    throw new CommandError(`The download of ${path} failed: ${(error as Error).message}`);
  });
}

/**
 * Undefined for 404. Of a longer answer, at least one byte more than `bytesMax`, but not all: it may not end. Throws a CommandError if the
 * answer breaks off.
 */
export async function fetchBytes(
  source: Source,
  path: string,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const response = await get(source, path);
  if (response === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > bytesMax) break;
    }
  } catch (error) {
    throw new CommandError(`The download of ${path} failed: ${(error as Error).message}`);
  }
  return Buffer.concat(chunks);
}

/** Streams an answer into a file. Throws a CommandError, also if the answer breaks off. */
export async function fetchFile(
  source: Source,
  path: string,
  { to, progress }: { to: string; progress: Progress },
): Promise<void> {
  const response = await get(source, path);
  if (response?.body === undefined || response.body === null)
    throw new CommandError(`${source.url} has no ${path}. Is it a Gatehouse with a log?`);
  let bytes = 0;
  try {
    await pipeline(
      Readable.fromWeb(response.body),
      async function* count(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          bytes += chunk.length;
          progress.report(bytes);
          yield chunk;
        }
      },
      createWriteStream(to),
    );
  } catch (error) {
    throw new CommandError(
      `The download of ${path} broke off after ${bytes} bytes: ${(error as Error).message}`,
    );
  }
}
