import { afterMs, nextTurn } from '../audit/loop.ts';
import { problemFrom } from '../audit/post-event.ts';
import { ANSWER_BYTES_MAX } from '../limits.ts';
import { PolicyError, messageOf } from '../errors.ts';
import { isObject } from '../json.ts';
import { withoutKey } from '../logger.ts';

type RequestOptions = {
  url: string;
  headers?: Record<string, string>;
  /** Default POST with a body, else GET. */
  method?: 'PUT' | undefined;
  body?: string;
  timeoutMs: number;
};

export type Answer = { status: number; etag: string | null; text: string };

/** One request, whose answer has at most 8 MiB; throws `unreachable` without a complete response in time. */
export async function httpRequest(request: RequestOptions): Promise<Answer> {
  const { url, headers = {}, body, timeoutMs } = request;
  const sent = body === undefined ? { method: 'GET' } : { method: request.method ?? 'POST', body };
  await nextTurn();
  const abort = new AbortController();
  const cancelTimeout = afterMs(timeoutMs, () => abort.abort(new Error(`no answer within ${timeoutMs} ms`)));
  try {
    // Redirects are not followed: a key must not be sent to another host. In Next.js 13 and 14, `fetch` answers from a cache by default.
    const options = { headers, redirect: 'manual', cache: 'no-store', signal: abort.signal } as const;
    const response = await fetch(url, { ...sent, ...options });
    return {
      status: response.status,
      etag: response.headers.get('etag'),
      text: await readText(response.body ?? [], ANSWER_BYTES_MAX),
    };
  } catch (cause) {
    throw new PolicyError('unreachable', `${sent.method} ${url} failed: ${reasonOf(cause)}`, { cause });
  } finally {
    cancelTimeout();
  }
}

/** What was refused, with the code and detail of the answer. */
export function refusalOf(what: string, { status, text }: Answer, key: string): PolicyError {
  const code = status === 401 ? 'unauthenticated' : 'platform_error';
  const problem = withoutKey(problemFrom(text), key);
  return new PolicyError(code, `${what} was answered with ${status} ${problem}`.trim(), { status });
}

export async function readText(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytesLeft = bytesMax;
  for await (const chunk of body) {
    bytesLeft -= chunk.byteLength;
    if (bytesLeft < 0) throw new Error(`the response has more than ${bytesMax} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The error of fetch says only "fetch failed"; its cause has the reason. An error may be its own cause, so only a few are followed. */
export function reasonOf(error: unknown, causesMax = 5): string {
  const { cause } = Object(error) as { cause?: unknown };
  return isObject(cause) && causesMax > 0 ? reasonOf(cause, causesMax - 1) : messageOf(error);
}
