import * as http from 'node:http';
import * as https from 'node:https';
import { PROBLEM_CHARACTERS_MAX } from '../limits.ts';
import { messageOf } from '../message-of.ts';
import type { Send, SendResult } from './send.ts';

/** The connections of one sender, kept open between events. */
export type Pool = http.Agent;

type PostTarget = { url: string; apiKey: string; timeoutMs: number; pool: Pool };

const STATUS_RETRYABLE = 503;

/** Opens nothing yet; `destroy` closes every connection. */
export function createPool(url: string, socketsMax: number): Pool {
  const { Agent } = url.startsWith('https:') ? https : http;
  return new Agent({ keepAlive: true, maxSockets: socketsMax });
}

/** One POST without redirects, bounded in time from the first byte to the last. */
export function postEvent({ url, apiKey, timeoutMs, pool }: PostTarget): Send {
  const { request } = url.startsWith('https:') ? https : http;
  return async (body, signal) => {
    try {
      return await exchange((answer) => {
        const bytes = Buffer.from(body);
        const headers = {
          Authorization: `Bearer ${apiKey}`,
          'Content-Type': 'application/json',
          'Content-Length': bytes.byteLength,
        };
        const sending = request(url, { method: 'POST', agent: pool, headers, signal }, answer);
        sending.end(bytes);
        return sending;
      }, timeoutMs);
    } catch (error) {
      return { kind: 'unreachable', problem: messageOf(error) };
    }
  };
}

type Start = (answer: (response: http.IncomingMessage) => void) => http.ClientRequest;

/** An answer counts once it is complete. Nothing here keeps the process alive: audit that is pending at its end is lost, not waited for. */
function exchange(start: Start, timeoutMs: number): Promise<SendResult> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => {
      clearTimeout(timer);
      reject(new Error('closed before the answer was complete'));
    };
    const sending = start((response) => {
      // From here on the answer's own end counts, which may come after that of the request.
      sending.off('close', onClose);
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        if (text.length < PROBLEM_CHARACTERS_MAX) text += chunk;
      });
      response.on('end', () => resolve(resultOf(response.statusCode ?? 0, text)));
      response.on('error', reject);
      response.on('close', onClose);
    });
    const late = new Error(`no answer within ${timeoutMs} ms`);
    const timer = setTimeout(() => sending.destroy(late), timeoutMs).unref();
    sending.on('socket', (socket) => socket.unref());
    sending.on('error', reject);
    // All that Node says of an answer that switches protocols.
    sending.on('close', onClose);
  });
}

function resultOf(status: number, text: string): SendResult {
  if (status >= 200 && status < 300) return { kind: 'accepted' };
  if (status === STATUS_RETRYABLE) return { kind: 'retryable', status };
  return { kind: 'rejected', status, problem: problemFrom(text) };
}

/** The code and detail of a problem document, or nothing where the body is none. */
function problemFrom(text: string): string {
  try {
    const { code, detail } = JSON.parse(text) as { code?: unknown; detail?: unknown };
    return [code, detail].filter((part) => typeof part === 'string').join(': ');
  } catch {
    // Any body may come with an error status, from any proxy on the way.
    return '';
  }
}
