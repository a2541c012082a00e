import type { Logger } from 'pino';
import type { AccountServices } from '../accounts/create-account-services.ts';
import type { Config } from '../config.ts';
import { WEBHOOK_RETRY_MS } from '../limits.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Metrics } from '../metrics.ts';
import type { AuditReads } from '../records/days.ts';
import { hasRole } from '../rights.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { sql } from '../store/sql.ts';
import { AlertReads } from './alert-reads.ts';
import { AlertSettingsStore } from './alert-settings.ts';
import { AlertStore } from './alert-store.ts';
import { Alerts } from './alerts.ts';
import { Deliveries } from './deliveries.ts';

type Needs = {
  /** For settings and pages, and for the evaluation. */
  store: BoundedStore;
  background: BoundedStore;
  reads: AuditReads;
  mailer: Mailer;
  accounts: Pick<AccountServices, 'projects' | 'members'>;
  config: Pick<Config, 'dashboardUrl' | 'webhookPrivate'>;
  metrics: Pick<Metrics, 'alerts' | 'alertWebhooks'>;
  logger: Logger;
  now: () => number;
};

export function createAlerts({
  store,
  background,
  reads,
  mailer,
  accounts,
  config,
  metrics,
  logger,
  now,
}: Needs) {
  const mutex = new KeyedMutex(store);
  const { projects, members } = accounts;
  const audienceOf = async (projectId: string) => {
    const [project, list] = [await projects.find(projectId), await members.list(projectId)];
    const account_ids = list.filter(({ role }) => hasRole(role, 'admin')).map(({ account_id }) => account_id);
    const rows = await background.query<{ email: string }>(sql('accounts_verified'), { account_ids });
    // An account from single sign-on may have no address.
    const emails = rows.map(({ email }) => email).filter((email) => email !== '');
    return { name: project?.name ?? projectId, emails };
  };
  const settings = new AlertSettingsStore({ store: background, mutex, now });
  const deliveries = new Deliveries({
    mailer,
    audienceOf,
    webhookOf: async (projectId) => (await settings.of(projectId)).webhook,
    dashboardUrl: config.dashboardUrl,
    mayBePrivate: config.webhookPrivate,
    retryMs: WEBHOOK_RETRY_MS,
    counter: metrics.alertWebhooks,
    logger,
    now,
  });
  const evaluation = new Alerts({
    settings,
    store: new AlertStore({ store: background, mutex }),
    reads: new AlertReads(reads),
    deliveries,
    counter: metrics.alerts,
    logger,
    now,
  });
  return {
    evaluation,
    alertSettings: new AlertSettingsStore({ store, mutex, now }),
    alertStore: new AlertStore({ store, mutex }),
  };
}
