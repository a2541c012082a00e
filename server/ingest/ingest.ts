import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Counter } from 'prom-client';
import { authenticate } from '../access/authenticate.ts';
import type { GroupCommit } from '../commit/group-commit.ts';
import { RequestError } from '../errors.ts';
import { readJsonText } from '../http/read-body.ts';
import type { BearerKeys } from '../keys/bearer-keys.ts';
import { INGEST_BODY_BYTES_MAX } from '../limits.ts';
import type { IngestResult, Metrics } from '../metrics.ts';
import { admitSizes, admitTime } from './admit.ts';
import { DECISION_COLUMNS, parseDecisionEvent } from './decision-event.ts';
import type { Event } from './event.ts';
import { type Columns, entryFrom } from './event-row.ts';
import { LLM_COLUMNS, parseLlmInvocation } from './llm-invocation.ts';

export type IngestDeps = {
  bearerKeys: BearerKeys;
  /** The id of the latest version of an agent, '' when it is not registered. */
  latestVersionId: (projectId: string, agentName: string) => string | Promise<string>;
  decisions: GroupCommit;
  llmInvocations: GroupCommit;
  metrics: Metrics;
  now: () => number;
};

/** What one kind of event does differently from another. */
type EventKind<E extends Event> = {
  parse: (bodyText: string) => E;
  columns: Columns<E>;
  commit: GroupCommit;
  counter: Counter<'result'>;
  /** Checks that come after the one of the time. */
  admit?: (event: E) => void;
  onAccepted?: (event: E) => void;
};

export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** POST /v1/audit/decisions. Rejects with a RequestError. */
export function createDecisionIngest(deps: IngestDeps): Handler {
  const { decisions: commit, metrics } = deps;
  return createIngest(deps, {
    parse: parseDecisionEvent,
    columns: DECISION_COLUMNS,
    commit,
    counter: metrics.ingest,
    admit: admitSizes,
    onAccepted: ({ outcome }) => metrics.written.inc({ outcome }),
  });
}

/** POST /v1/audit/llm-invocations. Rejects with a RequestError. */
export function createLlmIngest(deps: IngestDeps): Handler {
  const { llmInvocations: commit, metrics } = deps;
  return createIngest(deps, {
    parse: parseLlmInvocation,
    columns: LLM_COLUMNS,
    commit,
    counter: metrics.ingestLlm,
  });
}

/** The order of the checks is fixed: key, body, time, sizes; then the agent's version is looked up and the row written. */
function createIngest<E extends Event>(
  { bearerKeys, latestVersionId, now }: IngestDeps,
  { parse, columns, commit, counter, admit, onAccepted }: EventKind<E>,
): Handler {
  const ingest: Ingest = async (req, res) => {
    const startMs = performance.now();
    const { project_id } = await authenticate(req, bearerKeys);
    const keyMs = performance.now() - startMs;
    const event = parse(await readJsonText(req, INGEST_BODY_BYTES_MAX));
    // The time that the body took to arrive is the caller's own: it does not count as waiting.
    const sinceMs = performance.now() - keyMs;
    const receivedAtMs = now();
    admitTime(event, receivedAtMs);
    admit?.(event);
    const agent_version_id = await latestVersionId(project_id, event.agent_name);
    const entry = entryFrom(event, { project_id, agent_version_id, receivedAtMs }, columns);
    const result = await commit.write(entry, sinceMs);
    if (result === 'accepted') onAccepted?.(event);
    sendAccepted(res, event.event_id);
    return result;
  };
  return counted(counter, ingest);
}

function sendAccepted(res: ServerResponse, eventId: string): void {
  const body = `{"event_id":"${eventId}"}`;
  res.writeHead(202, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
  res.end(body);
}

type Ingest = (req: IncomingMessage, res: ServerResponse) => Promise<IngestResult>;

function counted(counter: Counter<'result'>, ingest: Ingest): Handler {
  return async (req, res) => {
    try {
      counter.inc({ result: await ingest(req, res) });
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
