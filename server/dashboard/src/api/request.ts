import { ApiError } from './api-error.ts';
import type { Answer, Body, Call, Name } from './call.ts';
import { datedPath } from './relative-period.ts';
import { parseExact } from './parse-exact.ts';
import { learnTime, serviceTime } from './service-clock.ts';
import type { PolicyFault } from './types.ts';

/** The service answers within 10 s, but a connection may hang. */
const ANSWER_MS_MAX = 60_000;

type RequestOptions<N extends Name> = {
  body?: Body<N>;
  /** A body that is already JSON text. */
  bodyText?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
};

type Problem = { code?: string; detail?: string; errors?: PolicyFault[] };

let announceSignedOut = (): void => undefined;

/** Sets what happens when the service answers that nobody is signed in. */
export function onSignedOut(listener: () => void): void {
  announceSignedOut = listener;
}

/** Calls the API of this service. Throws ApiError, or the AbortError of the caller's signal. */
export async function request<N extends Name>(
  { method, path }: Call<N>,
  { body, bodyText, headers = {}, signal }: RequestOptions<N> = {},
): Promise<Answer<N>> {
  const text = bodyText ?? (body === undefined ? undefined : JSON.stringify(body));
  const init = {
    method,
    headers: { ...(text === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(text === undefined ? {} : { body: text }),
    signal: AbortSignal.any([AbortSignal.timeout(ANSWER_MS_MAX), ...(signal === undefined ? [] : [signal])]),
  };
  let response: Response;
  let answer: string;
  try {
    const askedMs = Date.now();
    const sent = datedPath(path);
    response = await fetch(sent, init);
    learnTime(response, askedMs);
    const corrected = datedPath(path, serviceTime(askedMs));
    // This browser's clock is wrong, as the first answers of a page show.
    if (corrected !== sent) {
      await response.body?.cancel();
      response = await fetch(corrected, init);
    }
    answer = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError({ status: 0, code: 'unreachable', detail: 'The service cannot be reached' });
  }
  if (!response.ok) throw errorFrom(response, answer);
  try {
    return (answer === '' ? undefined : parseExact(answer)) as Answer<N>;
  } catch {
    // For example the sign-in page of a proxy.
    const detail = 'The service answered with something that is not JSON';
    throw new ApiError({ status: response.status, code: 'unexpected', detail });
  }
}

/** The error of a failed answer with this text. */
export function errorFrom(response: Response, text: string): ApiError {
  const { status } = response;
  if (status === 401) announceSignedOut();
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const seconds = Number.isFinite(retryAfter) ? retryAfter : undefined;
  try {
    const { code, detail, errors } = JSON.parse(text) as Problem;
    if (typeof code === 'string') {
      return new ApiError({ status, code, detail: detail ?? code, ...(errors ? { errors } : {}) }, seconds);
    }
  } catch {
    // For example an error page of a proxy; its status says enough.
  }
  const code = status === 502 || status === 504 ? 'unreachable' : 'unexpected';
  return new ApiError({ status, code, detail: `The service answered ${status}` }, seconds);
}
