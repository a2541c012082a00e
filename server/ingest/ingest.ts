import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Counter } from 'prom-client';
import type { GroupCommit } from '../commit/group-commit.ts';
import { RequestError } from '../errors.ts';
import { authenticate } from '../access/authenticate.ts';
import { readJsonText } from '../http/read-body.ts';
import type { BearerKeys } from '../keys/bearer-keys.ts';
import { INGEST_BODY_BYTES_MAX } from '../limits.ts';
import type { IngestResult, Metrics } from '../metrics.ts';
import { admitSizes, admitTime } from './admit.ts';
import { parseDecisionEvent } from './decision-event.ts';
import { decisionEntry, llmEntry, type ServerFields } from './event-row.ts';
import { parseLlmInvocation } from './llm-invocation.ts';

export type IngestDeps = {
  bearerKeys: BearerKeys;
  /** The id of the latest version of an agent, '' when it is not registered. */
  latestVersionId: (projectId: string, agentName: string) => string | Promise<string>;
  decisions: GroupCommit;
  llmInvocations: GroupCommit;
  metrics: Metrics;
  now: () => number;
};

export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** POST /v1/audit/decisions, in the order of SPECIFICATION 4.1. Rejects with a RequestError. */
export function createDecisionIngest({
  bearerKeys,
  latestVersionId,
  decisions,
  metrics,
  now,
}: IngestDeps): Handler {
  return counted(metrics.ingest, async (req, res) => {
    const {
      project_id,
      body: event,
      sinceMs,
    } = await receive(req, { bearerKeys, parse: parseDecisionEvent });
    const receivedAtMs = now();
    const occurredAtMs = admitTime(event.occurred_at, receivedAtMs);
    admitSizes(event);
    const agent_version_id = await latestVersionId(project_id, event.agent_name);
    const server: ServerFields = { project_id, agent_version_id, receivedAtMs, occurredAtMs };
    const result = await decisions.write(decisionEntry(event, server), sinceMs);
    if (result === 'accepted') metrics.written.inc({ outcome: event.outcome });
    sendAccepted(res, event.event_id);
    return result;
  });
}

/** POST /v1/audit/llm-invocations: the same rules for usage reports. */
export function createLlmIngest({
  bearerKeys,
  latestVersionId,
  llmInvocations,
  metrics,
  now,
}: IngestDeps): Handler {
  return counted(metrics.ingestLlm, async (req, res) => {
    const {
      project_id,
      body: usage,
      sinceMs,
    } = await receive(req, { bearerKeys, parse: parseLlmInvocation });
    const receivedAtMs = now();
    const occurredAtMs = admitTime(usage.occurred_at, receivedAtMs);
    const agent_version_id = await latestVersionId(project_id, usage.agent_name);
    const server: ServerFields = { project_id, agent_version_id, receivedAtMs, occurredAtMs };
    const result = await llmInvocations.write(llmEntry(usage, server), sinceMs);
    sendAccepted(res, usage.event_id);
    return result;
  });
}

/** The caller's project, its body, and since when it waits: without the body's way here, with what the key took. */
async function receive<Body>(
  req: IncomingMessage,
  { bearerKeys, parse }: { bearerKeys: BearerKeys; parse: (text: string) => Body },
): Promise<{ project_id: string; body: Body; sinceMs: number }> {
  const startMs = Date.now();
  const { project_id } = await authenticate(req, bearerKeys);
  const keyMs = Date.now() - startMs;
  const body = parse(await readJsonText(req, INGEST_BODY_BYTES_MAX));
  return { project_id, body, sinceMs: Date.now() - keyMs };
}

function sendAccepted(res: ServerResponse, eventId: string): void {
  const body = `{"event_id":"${eventId}"}`;
  res.writeHead(202, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
  res.end(body);
}

type Work = (req: IncomingMessage, res: ServerResponse) => Promise<IngestResult>;

function counted(counter: Counter<'result'>, work: Work): Handler {
  return async (req, res) => {
    try {
      counter.inc({ result: await work(req, res) });
    } catch (error) {
      const result = resultOf(error);
      // A bug has no label of its own: it is a 500 in gate_http_request_duration_seconds.
      if (result !== undefined) counter.inc({ result });
      throw error;
    }
  };
}

function resultOf(error: unknown): IngestResult | undefined {
  if (!(error instanceof RequestError)) return undefined;
  switch (error.code) {
    case 'unauthenticated':
    case 'body_invalid':
    case 'occurred_at_out_of_range':
    case 'row_rejected':
    case 'store_unavailable':
    case 'overloaded':
      return error.code;
    case 'arguments_too_large':
    case 'hint_too_large':
    case 'body_too_large':
      return 'too_large';
    default:
      return undefined;
  }
}
