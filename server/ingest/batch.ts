import type { Response } from 'express';
import type { Static } from 'typebox';
import { problemFrom } from '../http/error-handler.ts';
import type { Item } from '../http/read-items.ts';
import type { KeyIdentity } from '../keys/bearer-keys.ts';
import { createParser } from '../validate.ts';
import type { Event } from './event.ts';
import { entryOf } from './event-row.ts';
import { countProblem, type EventKind, type IngestDeps } from './ingest.ts';
import { type BATCH_ANSWER, Judgement } from './judgement.ts';

type BatchCall = {
  res: Response;
  caller: KeyIdentity;
  readonly sinceMs: number;
  readItems: (onItem: (item: Item) => void) => Promise<void>;
};

/** As `createIngest`, for many events: judges each alone, and writes those that pass together. */
export function createBatchIngest<Body extends object, E extends Event>(
  { latestVersionId, now }: IngestDeps,
  kind: EventKind<Body, E>,
) {
  const parse = createParser<Body>(kind.schema);
  return async (call: BatchCall): Promise<Static<typeof BATCH_ANSWER>> => {
    const { project_id } = call.caller;
    const judgement = new Judgement({ parse, kind, caller: call.caller });
    await call.readItems((item) => judgement.take(item));
    const receivedAtMs = now();
    const passed = judgement.judgeTimes(receivedAtMs);
    try {
      const versions = await versionsOf(passed, (agentName) => latestVersionId(project_id, agentName));
      const entries = passed.map((event) => {
        const agent_version_id = versions.get(event.agent_name) ?? '';
        return entryOf(event, { project_id, agent_version_id, receivedAtMs }, event.lineEnd);
      });
      if (entries.length > 0) judgement.settle(await kind.commit.writeAll(entries, call.sinceMs));
    } catch (error) {
      // None is acknowledged. The edge counts the first of them.
      countProblem(kind.counter, problemFrom(error).code, judgement.events - 1);
      throw error;
    }
    const result = judgement.result();
    if (result.rejected.length > 0) call.res.statusCode = 207;
    return result;
  };
}

/** The latest version id of each agent, asked for once. */
async function versionsOf(
  events: { agent_name: string }[],
  latestVersionId: (agentName: string) => string | Promise<string>,
): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  for (const { agent_name } of events)
    if (!versions.has(agent_name)) versions.set(agent_name, await latestVersionId(agent_name));
  return versions;
}
