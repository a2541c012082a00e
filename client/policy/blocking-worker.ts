import { runAsWorker } from 'synckit';
import type { Answered, Asked } from './blocking.ts';
import { loadLocal } from './load-local.ts';
import { PolicyError } from '../errors.ts';
import { pullPolicy } from './pull.ts';

runAsWorker(async (asked: Asked): Promise<Answered> => {
  try {
    const value = asked.kind === 'pull' ? await pullPolicy(asked.request) : await loadLocal(asked.request);
    return { kind: 'done', value };
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return { kind: 'failed', code: error.code, message: error.message, status: error.status };
  }
});
