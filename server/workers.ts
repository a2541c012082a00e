import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { AggregatorRegistry, type RegistryContentType } from 'prom-client';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import type { Config } from './config.ts';
import { RequestError } from './errors.ts';
import { readLogKey } from './keys/log-key.ts';
import { readSigningKeys } from './keys/signing-keys.ts';
import type { Metrics } from './metrics.ts';

/** A worker that died is replaced after this delay. */
const REPLACE_AFTER_MS = 1000;
/** The process must end within 10 s of SIGTERM. */
const STOP_MS_MAX = 9800;
const METRICS_WAIT_MS_MAX = 4000;

type MetricsMessage = { gatehouse: 'metrics'; id: string; text?: string };

/** Whether this process only supervises workers. */
export function isOverseer({ workers }: Config): boolean {
  return workers > 1 && cluster.isPrimary;
}

/**
 * Runs the service in several processes that share the port. Each is a complete service on the common store. This process
 * hands out connections, sums the metrics, counts attempts for rate limits, restarts dead workers and forwards shutdown.
 */
export async function oversee(config: Config, logger: Logger): Promise<void> {
  // Creates the keys here, so that workers do not race to create them.
  await readSigningKeys(config);
  readLogKey(config);
  const aggregator = new AggregatorRegistry();
  // From now on, this process handles the workers' rate limits.
  void new RateLimiterClusterMaster();
  let isStopping = false;
  cluster.on('message', (worker, message: MetricsMessage) => {
    if (message.gatehouse === 'metrics') void answerMetrics(aggregator, { worker, id: message.id });
  });
  stopOnSignal(() => (isStopping = true));
  const first = cluster.fork();
  const [outcome] = (await Promise.race([once(first, 'listening'), once(first, 'exit')])) as [unknown];
  if (isStopping) return;
  // The worker has reported why.
  if (typeof outcome !== 'object') process.exit(typeof outcome === 'number' ? outcome : 1);
  // The first worker has made the demo if one was configured.
  const env = { GATE_DEMO: '0' };
  for (let count = 1; count < config.workers; count += 1) cluster.fork(env);
  cluster.on('exit', (worker, code, signal) => {
    if (isStopping) return;
    logger.error({ worker: worker.process.pid, code, signal }, 'A worker died and is replaced');
    void sleep(REPLACE_AFTER_MS).then(() => (isStopping ? undefined : cluster.fork(env)));
  });
}

function stopOnSignal(onStop: () => void): void {
  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    onStop();
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const ends = workers.map(async (worker) => {
      worker.process.kill('SIGTERM');
      const [code, signal] = (await once(worker.process, 'exit')) as [number | null, NodeJS.Signals | null];
      // A worker that is still starting is ended by the signal. It has no requests.
      return code === 0 || signal === 'SIGTERM' || signal === 'SIGINT';
    });
    setTimeout(() => {
      for (const worker of workers) worker.process.kill('SIGKILL');
      process.exit(1);
    }, STOP_MS_MAX).unref();
    void Promise.all(ends).then((all) => process.exit(all.every((isClean) => isClean) ? 0 : 1));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

async function answerMetrics(
  aggregator: Pick<AggregatorRegistry<RegistryContentType>, 'clusterMetrics'>,
  { worker, id }: { worker: Worker; id: string },
): Promise<void> {
  const message: MetricsMessage = { gatehouse: 'metrics', id };
  // A message without text means that a worker did not answer.
  const text = await aggregator.clusterMetrics().catch(() => undefined);
  if (worker.isConnected()) worker.send(text === undefined ? message : { ...message, text });
}

/** In a worker, returns metrics whose text is the sum over all workers. Otherwise returns them unchanged. */
export function shareMetrics(metrics: Metrics): Metrics {
  if (!cluster.isWorker) return metrics;
  // From now on, this process answers the overseer's requests for its metrics.
  void new AggregatorRegistry();
  AggregatorRegistry.setRegistries([metrics.registry]);
  const waiting = new Map<string, (message: MetricsMessage) => void>();
  process.on('message', (message: MetricsMessage) => {
    if (message.gatehouse === 'metrics') waiting.get(message.id)?.(message);
  });
  const ask = async () => {
    const id = randomUUID();
    const answer = new Promise<MetricsMessage>((resolve) => waiting.set(id, resolve));
    process.send?.({ gatehouse: 'metrics', id } satisfies MetricsMessage);
    const message = await Promise.race([answer, sleep(METRICS_WAIT_MS_MAX, undefined, { ref: false })]);
    waiting.delete(id);
    if (message?.text !== undefined) return message.text;
    throw new RequestError('overloaded', 'A worker did not report its metrics in time.');
  };
  return { ...metrics, text: ask };
}
