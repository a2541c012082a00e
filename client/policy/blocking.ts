import { existsSync } from 'node:fs';
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import type { Loaded, LoadRequest } from './load-local.ts';
import { messageOf, PolicyError, type PolicyErrorCode } from '../errors.ts';
import type { PullRequest, PullResult } from './pull.ts';

/** The messages to and from the worker thread. Errors are data, because an instance of a class cannot be sent. */
export type Asked = { kind: 'pull'; request: PullRequest } | { kind: 'load'; request: LoadRequest };
export type Answered =
  | { kind: 'done'; value: PullResult | Loaded }
  | { kind: 'failed'; code: PolicyErrorCode; message: string; status: number | undefined }
  | { kind: 'broken'; cause: unknown };

/** The worker answers on the port, and then sets the flag that the asking thread waits for. */
export type Question = { asked: Asked; port: MessagePort; flag: Int32Array };

/** How long the worker may take to start, read and verify, besides its requests. */
const WORK_MS_MAX = 30_000;
/** A pull fetches the agent and, at most once, the key set. */
const REQUESTS_MAX = 2;

let worker: Worker | undefined;

export function pullBlocking(request: PullRequest): PullResult {
  return ask({ kind: 'pull', request }) as PullResult;
}

export function loadBlocking(request: LoadRequest): Loaded {
  return ask({ kind: 'load', request }) as Loaded;
}

function ask(asked: Asked): PullResult | Loaded {
  const answered = askWorker(asked);
  if (answered.kind === 'done') return answered.value;
  if (answered.kind === 'broken') throw answered.cause;
  const { code, message, status } = answered;
  throw new PolicyError(code, message, status === undefined ? {} : { status });
}

function askWorker(asked: Asked): Answered {
  try {
    worker ??= startWorker();
    const { port1, port2 } = new MessageChannel();
    const flag = new Int32Array(new SharedArrayBuffer(4));
    worker.postMessage({ asked, port: port2, flag } satisfies Question, [port2]);
    const requestsMs = asked.kind === 'pull' ? REQUESTS_MAX * asked.request.timeoutMs : 0;
    Atomics.wait(flag, 0, 0, WORK_MS_MAX + requestsMs);
    const answered = receiveMessageOnPort(port1)?.message as Answered | undefined;
    port1.close();
    if (answered !== undefined) return answered;
    // The thread may have ended. The next call starts another one.
    void worker.terminate();
    worker = undefined;
    throw new Error('it did not answer in time');
  } catch (cause) {
    const message = `The worker thread of a blocking refresh does not run (in a bundle, leave @gatehouse/client external): ${messageOf(cause)}`;
    throw new PolicyError('worker_unavailable', message, { cause });
  }
}

function startWorker(): Worker {
  // In a bundle of CommonJS there is no URL. A constant, because webpack would copy the file without those that it imports.
  const here = import.meta.url;
  // Next.js and others trace this expression to find the file. From source it has the extension .ts.
  const file = new URL('./blocking-worker.js', here);
  if (here.endsWith('.ts')) file.pathname = file.pathname.replace(/js$/, 'ts');
  // A worker that cannot start would never answer.
  if (!existsSync(file)) throw new Error(`${file.href} is missing`);
  // Without the options of the process: --input-type would end the thread, and an agent of --import would start twice.
  const started = new Worker(file, { execArgv: [] });
  started.once('error', () => {
    if (worker === started) worker = undefined;
  });
  started.unref();
  return started;
}
