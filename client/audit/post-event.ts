import type * as http from 'node:http';
import { messageOf } from '../errors.ts';
import { parsedJson } from '../json.ts';
import { withoutKey } from '../logger.ts';
import { afterMs, nextTurn, type Sleep } from './loop.ts';

/** The outcome of one POST. Failures are values, because audit never throws. */
export type SendResult =
  | { kind: 'accepted'; status: number; text: string }
  | { kind: 'retryable'; status: number }
  | { kind: 'rejected'; status: number; problem: string }
  | { kind: 'unreachable'; problem: string };

/** Sends one body with more headers; never rejects, and ends early when the signal is aborted. */
export type Send = (
  body: string,
  signal: AbortSignal,
  headers?: Readonly<Record<string, string>>,
) => Promise<SendResult>;

type PostTarget = {
  url: string;
  apiKey: string;
  timeoutMs: number;
  agent: http.Agent;
  contentType: string;
  /** At most this much of the answer is read. */
  answerCharactersMax: number;
};

/** 207: a batch in which some events were rejected. Any other 2xx comes from something else, such as a proxy. */
const STATUSES_ACCEPTED: readonly number[] = [202, 207];
const STATUS_RETRYABLE = 503;

/** Keeps connections open between events. Uses the proxy that Node uses for `fetch`, if any. */
export function createAgent(url: string, socketsMax: number): http.Agent {
  const { Agent, globalAgent } = transportOf(url);
  const { options } = globalAgent as { options?: http.AgentOptions };
  return new Agent({ keepAlive: true, maxSockets: socketsMax, proxyEnv: options?.proxyEnv });
}

/** Loaded at its first use: importing `node:http` would load a WebSocket client as well. */
function transportOf(url: string): typeof http {
  return process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http') as typeof http;
}

/** One more try after a retryable answer, whatever its Retry-After says. */
export function retryOnce(send: Send, { waitMs, sleep }: { waitMs: number; sleep: Sleep }): Send {
  return async (body, signal, headers) => {
    const first = await send(body, signal, headers);
    if (first.kind !== 'retryable') return first;
    await sleep(waitMs, signal);
    return send(body, signal, headers);
  };
}

/** One POST. Follows no redirect; the timeout covers everything from connecting to the last byte. */
export function postEvent({ url, agent, contentType, ...limits }: PostTarget): Send {
  const { request } = transportOf(url);
  return async (body, signal, more) => {
    await nextTurn();
    try {
      const bytes = Buffer.from(body);
      const headers = {
        Authorization: `Bearer ${limits.apiKey}`,
        'Content-Type': contentType,
        'Content-Length': bytes.byteLength,
        ...more,
      };
      return await exchange(request(url, { method: 'POST', agent, headers, signal }), bytes, limits);
    } catch (error) {
      return { kind: 'unreachable', problem: messageOf(error) };
    }
  };
}

type AnswerLimits = Pick<PostTarget, 'apiKey' | 'timeoutMs' | 'answerCharactersMax'>;

/** Resolves when the answer is complete, without the key, which must not reach a log. Neither the timer nor the socket keeps the process alive. */
function exchange(
  sending: http.ClientRequest,
  bytes: Buffer,
  { apiKey, timeoutMs, answerCharactersMax }: AnswerLimits,
): Promise<SendResult> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => {
      cancelTimeout();
      reject(new Error('closed before the answer was complete'));
    };
    sending.once('response', (response) => {
      // The response may end after the request does.
      sending.off('close', onClose);
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        if (text.length < answerCharactersMax) text += chunk;
      });
      response.on('end', () => {
        resolve(resultOf(response.statusCode ?? 0, withoutKey(text, apiKey)));
      });
      response.on('error', reject);
      response.on('close', onClose);
    });
    const late = new Error(`no answer within ${timeoutMs} ms`);
    const cancelTimeout = afterMs(timeoutMs, () => sending.destroy(late));
    sending.on('socket', (socket) => socket.unref());
    sending.on('error', reject);
    // The only event for a response that switches protocols.
    sending.on('close', onClose);
    sending.end(bytes);
  });
}

function resultOf(status: number, text: string): SendResult {
  if (STATUSES_ACCEPTED.includes(status)) return { kind: 'accepted', status, text };
  if (status === STATUS_RETRYABLE) return { kind: 'retryable', status };
  return { kind: 'rejected', status, problem: problemFrom(text) };
}

/** The code and detail of a problem document; empty for any other body, such as the answer of a proxy. */
export function problemFrom(text: string): string {
  return problemOf(parsedJson(text));
}

/** The code and detail of a problem object; empty for any other value. */
export function problemOf(value: unknown): string {
  const { code, detail } = Object(value) as { code?: unknown; detail?: unknown };
  return [code, detail].filter((part) => typeof part === 'string').join(': ');
}
