import type { Logger } from 'pino';
import { createAccountServices } from './accounts/create-account-services.ts';
import { createAgents } from './agents/create-agents.ts';
import { Fleet } from './agents/fleet.ts';
import { createAlerts } from './alerts/create-alerts.ts';
import { createApp } from './app.ts';
import { createReads, writersOf } from './records/days.ts';
import { EmittedGauge } from './records/emitted-gauge.ts';
import { EmitterStarts } from './commit/emitter-starts.ts';
import { createCommits } from './commit/create-commits.ts';
import { removeRows } from './commit/remove-rows.ts';
import type { Config } from './config.ts';
import { type Demo, prepareDemo } from './demo/demo.ts';
import { DemoFleet } from './demo/demo-fleet.ts';
import { problemFrom } from './http/error-handler.ts';
import { listen } from './http/listen.ts';
import { DECISION_COLUMNS } from './ingest/decision-event.ts';
import { EmitterCloses } from './ingest/emitter-closes.ts';
import { LLM_COLUMNS } from './ingest/llm-invocation.ts';
import { Receipts } from './ingest/receipts.ts';
import { BearerKeys } from './keys/bearer-keys.ts';
import { readLogKey } from './keys/log-key.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { KeyRegistry } from './keys/key-registry.ts';
import { RootKeys } from './keys/root-keys.ts';
import { hasSigningKey, readSigningKeys } from './keys/signing-keys.ts';
import { createLogHeads, ProjectLog } from './log/project-log.ts';
import { Witnesses } from './log/witnesses.ts';
import { LogSigner } from './log/log-signer.ts';
import { LogTables } from './log/log-tables.ts';
import { Sequencer } from './log/sequencer.ts';
import { createMailer } from './mail/mailer.ts';
import { createMetrics } from './metrics.ts';
import { warnOfBrokenParts, warnOfLogKey, warnOfLostRootKey, warnOfWrongRootKey } from './start-warnings.ts';
import { findBrokenParts, mayLackIdentities, requireCurrentState } from './store/broken-parts.ts';
import type { Connection } from './store/connection.ts';
import { waitForSchema } from './store/initialize-with-retry.ts';
import { fatalStoreFault } from './store/open-faults.ts';
import { createStore, type Store } from './store/store.ts';
import { createBoundedStore } from './store/bounded-store.ts';
import type { RunRead, RunReadBytes } from './store/read-pool.ts';
import { withTimeout } from './store/with-timeout.ts';
import { shareMetrics } from './workers.ts';

/** The time for each piece of background work during the stop. Records not logged by then are logged after the next start. */
const CLOSE_MS_MAX = 1500;

/** A running service. */
export type Service = {
  url: string;
  store: Store['kind'];
  demo: Demo | undefined;
  demoFleet: DemoFleet;
  /** Finishes what is in flight, then closes the store. */
  stop(): Promise<void>;
};

/** Builds everything from the configuration and listens. The only place that connects the parts. */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const now = Date.now;
  const store = createStore(config, logger);
  await openStore(store, { config, logger });
  const isSoleWriter = store.kind === 'embedded';
  const bounded = (connection: Connection) => createBoundedStore(connection, store.ready);
  const shared = { connection: store.lookups, ready: store.ready, isSoleWriter, now };
  const metrics = shareMetrics(
    createMetrics({
      isStoreUp: store.isUp,
      logWaitSeconds: () => sequencer.waitSeconds,
      identityFilters: () => commits.identityFilters(),
    }),
  );
  const brokenParts = isSoleWriter ? await findBrokenParts(store.background) : [];
  requireCurrentState(brokenParts);
  metrics.brokenParts.set(brokenParts.length);
  if (brokenParts.length > 0) warnOfBrokenParts(brokenParts, logger);
  const isDamaged = (name: string) => brokenParts.some(({ table }) => table === name);
  const isLogDamaged = isDamaged('log_chunks') || isDamaged('log_hashes');
  const hasLostIdentities =
    isDamaged('event_identities') || (isSoleWriter && (await mayLackIdentities(store.background, logger)));
  if (!hasSigningKey(config)) await warnOfLostRootKey(store.background, { config, logger });
  const signing = await readSigningKeys(config);
  const registry = new KeyRegistry(shared);
  const rootKeys = new RootKeys({ ...shared, signing });
  const bearerKeys = new BearerKeys(rootKeys, registry, now);
  const mailer = createMailer(config, { logger, counter: metrics.mail });
  const accountServices = createAccountServices({
    store: bounded(store.accounts),
    bearerKeys,
    removeWebhook: (projectId, changedBy) => alerts.alertSettings.removeWebhook(projectId, changedBy),
    mailer,
    config,
    now,
  });
  const agents = createAgents({
    ...shared,
    rootKeys,
    bundleDaysMax: config.bundleDaysMax,
    logger,
    signings: metrics.policySignings,
  });
  const columns = { decisions: DECISION_COLUMNS, llm_invocations: LLM_COLUMNS };
  const sequencer = new Sequencer({
    tables: new LogTables(store.log),
    isShared: !isSoleWriter,
    opened: () => commits.opened(),
    markOwn: () => commits.marked(),
    remove: (rows) =>
      removeRows(rows, { connection: store.log, engines: store.engines, stream: 'decisions', logger }),
    logger,
    now,
  });
  const { flushes } = sequencer;
  const commits = createCommits(store, {
    config,
    columns,
    flushes,
    hasLostIdentities,
    metrics,
    logger,
    now,
  });
  const runRead: RunRead = (text, params, signal) =>
    store.ready().then(() => store.reads.query(text, params, signal));
  const runReadBytes: RunReadBytes = (text, params, signal) =>
    store.ready().then(() => store.reads.queryBytes(text, params, signal));
  const reads = createReads({ runRead, runReadBytes, writers: writersOf(config), now });
  const emittedGauge = new EmittedGauge({ reads, gauge: metrics.emittedEvents, logger });
  const logKeyStore = bounded(store.accounts);
  const logSigner = new LogSigner({
    logKey: readLogKey(config),
    store: logKeyStore,
    isDamaged: isLogDamaged,
    mutex: new KeyedMutex(logKeyStore),
    now,
  });
  const logHeads = createLogHeads(logSigner);
  const witnesses = new Witnesses({
    witnesses: config.witnesses,
    store: bounded(store.background),
    logOf: (projectId) => new ProjectLog(projectId, logHeads, store.background),
    logger,
    now,
  });
  const emitterStarts = new EmitterStarts({ connection: store.background, ready: store.ready, logger, now });
  const { evaluation, ...alerts } = createAlerts({
    store: bounded(store.accounts),
    background: bounded(store.background),
    reads,
    mailer,
    accounts: accountServices,
    config,
    metrics,
    logger,
    now,
  });
  const app = createApp({
    logger,
    metrics,
    rootKeys,
    bearerKeys,
    ...accountServices,
    ...alerts,
    webhookPrivate: config.webhookPrivate,
    trustedProxies: config.trustedProxies,
    latestVersionId: (projectId, agentName) => agents.directory.latestVersionId(projectId, agentName),
    agentStore: agents.store,
    agentSaver: agents.saver,
    policyReader: agents.reader,
    fleet: new Fleet(now),
    policyThreads: agents.threads,
    decisions: commits.decisions,
    llmInvocations: commits.llmInvocations,
    emitterCloses: new EmitterCloses({ store: bounded(store.accounts), now }),
    runRead,
    runReadBytes,
    reads,
    logHeads,
    witnesses: config.witnesses,
    receipts: new Receipts({ store: bounded(store.lookups), rootKeys, now }),
    readAuth: config.readAuth,
    isStoreUp: store.isUp,
    identityFilters: commits.identityFilters,
    now,
  });
  registry.startPolling();
  void warnOfWrongRootKey(rootKeys, logger);
  // Write demo.json before accepting connections.
  const demo = config.demo === '0' ? undefined : await makeDemo(config.demo).catch(abandon);
  const demoFleet = new DemoFleet({
    connection: store.background,
    commits,
    flushes,
    agentSaver: agents.saver,
    logger,
    now,
  });
  if (isSoleWriter)
    await sequencer.open().catch((error: unknown) => (isLogDamaged ? undefined : abandon(error)));
  const listening = await listen(app, config, logger).catch(abandon);
  // Not earlier: a start that fails exits immediately. A log with missing entries would take their records again.
  if (!isLogDamaged) sequencer.start();
  emitterStarts.start();
  emittedGauge.start();
  witnesses.start();
  evaluation.start();
  void warnOfLogKey(logSigner, logger);
  if (config.demo === '1' && demo?.fleet_project_id !== undefined) demoFleet.start(demo.fleet_project_id);
  return {
    url: listening.url,
    demo,
    demoFleet,
    store: store.kind,
    stop: async () => {
      await Promise.all([listening.stop(), demoFleet.stop(), witnesses.close()]);
      await accountServices.mailRequests.close();
      await inTime(evaluation.close());
      await mailer.close();
      registry.close();
      await inTime(Promise.all([emitterStarts.close(), emittedGauge.close()]));
      await commits.close();
      await inTime(sequencer.close());
      await store.close();
    },
  };

  /** A process that exits while the embedded engine is at work may crash. */
  async function abandon(error: unknown): Promise<never> {
    registry.close();
    await inTime(commits.close());
    await inTime(store.close());
    throw error;
  }

  /** A store that does not answer must not keep the process alive. */
  function inTime(closing: Promise<unknown>): Promise<unknown> {
    return withTimeout(closing, CLOSE_MS_MAX).catch(() => undefined);
  }

  function makeDemo(kind: '1' | 'project'): Promise<Demo | undefined> {
    const deps = { ...accountServices, bearerKeys, agentSaver: agents.saver, logger };
    const options = { dataDir: config.dataDir, hasFleet: kind === '1' };
    return prepareDemo(deps, options).catch((error: unknown) => {
      const { status } = problemFrom(error);
      // Another service is creating the demo in the same store at this moment.
      if (!isSoleWriter && status === 409) return undefined;
      if (isSoleWriter || status !== 503) throw error;
      logger.warn('The store is unavailable; a later start makes the demo');
      return undefined;
    });
  }
}

/** Creating the schema of an empty store takes longer than a caller waits for a statement. */
const SCHEMA_WAITS = 3;

/** A server may be down at the start. An embedded store that cannot be opened prevents the start. */
async function openStore(
  store: Store,
  { config, logger }: { config: Config; logger: Logger },
): Promise<void> {
  try {
    await waitForSchema(store.ready, SCHEMA_WAITS);
  } catch (error) {
    const fatal = fatalStoreFault(error, config.dataDir);
    if (fatal !== undefined) throw fatal;
    if (store.kind === 'embedded') throw error;
    logger.warn({ err: error }, 'The store is unavailable; the service starts without it');
  }
}
