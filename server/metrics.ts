import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { OUTCOMES } from './ingest/decision-event.ts';
import { INGEST_RESULTS } from './ingest/ingest.ts';

const HTTP_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const FLUSH_SECONDS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_ROWS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
const FETCH_RESULTS = ['fresh', 'not_modified', 'unknown'] as const;
export type FetchResult = (typeof FETCH_RESULTS)[number];

export type Metrics = ReturnType<typeof createMetrics>;

/** Every metric of the service. Label values come from closed sets only. */
export function createMetrics({
  isStoreUp,
  logWaitSeconds = () => 0,
  identityFilters = () => undefined,
}: {
  isStoreUp: () => Promise<boolean>;
  logWaitSeconds?: () => number;
  /** Whether the filter of each stream is complete; undefined if there are none. */
  identityFilters?: () => Record<string, boolean> | undefined;
}) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const metrics = {
    registry,
    /** The body of GET /metrics. */
    text: () => registry.metrics(),
    httpRequests: new Histogram({
      name: 'gate_http_request_duration_seconds',
      help: 'Duration of HTTP requests in seconds',
      labelNames: ['route', 'method', 'status'] as const,
      buckets: HTTP_SECONDS,
      registers,
    }),
    ingest: counter('gate_ingest_decisions_total', 'Decisions received, by result', 'result'),
    ingestLlm: counter(
      'gate_ingest_llm_invocations_total',
      'LLM usage reports received, by result',
      'result',
    ),
    written: counter('gate_decisions_written_total', 'Decisions written durably, by outcome', 'outcome'),
    flushSeconds: new Histogram({
      name: 'gate_ingest_flush_seconds',
      help: 'Duration of a group commit in seconds',
      buckets: FLUSH_SECONDS,
      registers,
    }),
    batchRows: new Histogram({
      name: 'gate_ingest_batch_rows',
      help: 'Rows per group commit',
      buckets: BATCH_ROWS,
      registers,
    }),
    queueRows: new Gauge({
      name: 'gate_ingest_queue_rows',
      help: 'Decisions waiting for a group commit',
      registers,
    }),
    identityFilterComplete: new Gauge({
      name: 'gate_identity_filter_complete',
      help: '1 if the identity filter is complete, 0 while every event is looked up in the store',
      labelNames: ['stream'] as const,
      aggregator: 'min',
      registers,
      collect() {
        for (const [stream, isComplete] of Object.entries(identityFilters() ?? {}))
          this.set({ stream }, isComplete ? 1 : 0);
      },
    }),
    logWait: new Gauge({
      name: 'gate_log_wait_seconds',
      help: 'Seconds since the oldest insert whose decisions are not in the log yet, 0 when none waits',
      aggregator: 'max',
      registers,
      collect() {
        this.set(logWaitSeconds());
      },
    }),
    emittedEvents: new Gauge({
      name: 'gate_emitted_events',
      help: 'Numbered events of the last full hour, by what became of them',
      labelNames: ['stream', 'state'] as const,
      // Every process reports what is in the store.
      aggregator: 'max',
      registers,
    }),
    storeUp: new Gauge({
      name: 'gate_store_up',
      help: '1 if the store responds, otherwise 0',
      aggregator: 'min',
      registers,
      async collect() {
        this.set((await isStoreUp()) ? 1 : 0);
      },
    }),
    brokenParts: new Gauge({
      name: 'gate_store_broken_parts',
      help: 'Damaged parts that the embedded engine set aside at the start, and logs that lack entries',
      // Every process reports what is in the store.
      aggregator: 'max',
      registers,
    }),
    policyFetches: counter('gate_policy_fetch_total', 'Policy fetches, by result', 'result'),
    policySignings: counter(
      'gate_policy_sign_total',
      'Bundles due to be signed again before they expire, by result',
      'result',
    ),
    alerts: counter('gate_alerts_total', 'Alerts for the members of projects, by rule', 'rule'),
    alertWebhooks: counter('gate_alert_webhooks_total', 'Webhooks of alerts, by result', 'result'),
    mail: counter('gate_mail_total', 'Mails, by kind and result', 'kind', 'result'),
  };
  // Prometheus sees the first increase only of a counter that exists before it.
  for (const result of INGEST_RESULTS) {
    metrics.ingest.inc({ result }, 0);
    metrics.ingestLlm.inc({ result }, 0);
  }
  for (const outcome of OUTCOMES) metrics.written.inc({ outcome }, 0);
  for (const result of FETCH_RESULTS) metrics.policyFetches.inc({ result }, 0);
  return metrics;
}
