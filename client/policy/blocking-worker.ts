import { parentPort } from 'node:worker_threads';
import type { Answered, Asked, Question } from './blocking.ts';
import { loadLocal } from './load-local.ts';
import { PolicyError } from '../errors.ts';
import { pullPolicy } from './pull.ts';

parentPort?.on('message', ({ asked, port, flag }: Question) => {
  void answer(asked).then((answered) => {
    port.postMessage(answered);
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  });
});

async function answer(asked: Asked): Promise<Answered> {
  try {
    const value = asked.kind === 'pull' ? await pullPolicy(asked.request) : await loadLocal(asked.request);
    return { kind: 'done', value };
  } catch (error) {
    if (!(error instanceof PolicyError)) return { kind: 'broken', cause: error };
    return { kind: 'failed', code: error.code, message: error.message, status: error.status };
  }
}
