import { ANSWER_BYTES_MAX } from '../limits.ts';
import { PolicyError, messageOf } from '../errors.ts';

type GetOptions = { url: string; headers?: Record<string, string>; timeoutMs: number };

export type Answer = { status: number; etag: string | null; text: string };

/** One GET, bounded in time and size; throws `unreachable` when there is no complete answer. */
export async function httpGet({ url, headers = {}, timeoutMs }: GetOptions): Promise<Answer> {
  try {
    // A redirect is an answer like any other, because a key must not follow it to another host.
    const options: RequestInit = { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) };
    const response = await fetch(url, options);
    return { status: response.status, etag: response.headers.get('etag'), text: await readText(response) };
  } catch (cause) {
    throw new PolicyError('unreachable', `GET ${url} failed: ${reasonOf(cause)}`, { cause });
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytesLeft = ANSWER_BYTES_MAX;
  for await (const chunk of response.body ?? []) {
    bytesLeft -= chunk.byteLength;
    if (bytesLeft < 0) throw new Error(`the answer is over ${ANSWER_BYTES_MAX} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** What fetch throws says "fetch failed"; why is in its cause. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? reasonOf(error.cause) : messageOf(error);
}
