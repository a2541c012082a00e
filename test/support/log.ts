import {
  parseVerifierKey,
  type RecordProof,
  type VerifierKey,
  verifyCheckpoint,
} from '../../client/proof/index.ts';
import { call } from './accounts.ts';
import { eventually } from './eventually.ts';
import { ask } from './reads.ts';
import type { RunningService } from './service.ts';

/** A resource of the log of the service's project. */
export function askLog(service: RunningService, path: string): Promise<Response> {
  return call(service, `/v1/projects/${service.project_id}/log/${path}`);
}

export async function logText(service: RunningService, path: string): Promise<string> {
  return (await askLog(service, path)).text();
}

export async function logBytes(service: RunningService, path: string): Promise<Buffer> {
  return Buffer.from(await (await askLog(service, path)).arrayBuffer());
}

export async function logKey(service: RunningService): Promise<VerifierKey> {
  return parseVerifierKey((await logText(service, 'vkey')).trimEnd());
}

/** A read that waited too long for others, on a slow machine, is repeated. */
const HAS_WAITED = 503;

/** The proof of a record, once the record is in the log. */
export function proofOf(service: RunningService, eventId: string): Promise<RecordProof> {
  return eventually(async () => {
    const { status, text } = await ask(service, `decisions/${eventId}/proof`);
    if (status === 409 || status === HAS_WAITED) return undefined;
    if (status !== 200) throw new Error(text);
    return JSON.parse(text) as RecordProof;
  });
}

/** Resolves with the checkpoint of a log that has this many entries or more. */
export async function checkpointFrom(service: RunningService, size: number) {
  const key = await logKey(service);
  return eventually(async () => {
    const response = await askLog(service, 'checkpoint');
    if (response.status === HAS_WAITED) return undefined;
    const checkpoint = verifyCheckpoint(await response.text(), key);
    return checkpoint.size >= size ? checkpoint : undefined;
  });
}
