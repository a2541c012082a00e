import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import { chunksOf } from '../commit/identity.ts';
import type { TimeCursor } from '../http/time-cursor.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { claim } from '../store/claim.ts';
import { sql } from '../store/sql.ts';
import { clickhouseSeconds, clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import { type Alert, type AlertState, KNOWN_MS } from './alert.ts';

type AlertRow = Omit<Alert, 'total' | 'denied' | 'usual_total' | 'usual_denied'> &
  Record<'total' | 'denied' | 'usual_total' | 'usual_denied', string>;
type Page = { projectId: string; before: TimeCursor; limit: number };
type AlertStoreOptions = { store: BoundedStore; mutex: KeyedMutex };

/** The alerts in the store, and which service evaluates each minute. */
export class AlertStore {
  readonly #options: AlertStoreOptions;
  readonly #holder = `${hostname()} ${randomUUID()}`;

  constructor(options: AlertStoreOptions) {
    this.#options = options;
  }

  /** Whether this service is the one that evaluates the minute. */
  async claimMinute(minuteMs: number): Promise<boolean> {
    const { store, mutex } = this.#options;
    const minute = clickhouseSeconds(minuteMs);
    const holder = await claim(mutex, `alerts of ${minute}`, {
      find: async () => (await store.query<{ holder: string }>(sql('alert_round'), { minute }))[0]?.holder,
      write: (token) =>
        store.append({ table: 'alert_rounds', values: { minute, holder: this.#holder }, token }),
    });
    return holder === this.#holder;
  }

  /** The alerts of the last day, and those with these ids, of which there must be few. */
  async known(projectIds: string[], alertIds: string[], nowMs: number): Promise<Alert[]> {
    const since = clickhouseTime(nowMs - KNOWN_MS);
    const alerts: Alert[][] = [];
    for (const project_ids of chunksOf(projectIds))
      alerts.push(await this.#query('alerts_known', { project_ids, alert_ids: alertIds, since }));
    return alerts.flat();
  }

  async page({ projectId, before, limit }: Page): Promise<Alert[]> {
    const rows = await this.#query('alerts_page', {
      project_id: projectId,
      before_at: clickhouseTime(Date.parse(before.at)),
      before_id: before.id,
      limit,
    });
    return rows.map((row) => ({ ...row, project_id: projectId }));
  }

  async #query(name: string, params: Record<string, string | number | string[]>): Promise<Alert[]> {
    const rows = await this.#options.store.query<AlertRow>(sql(name), params);
    return rows.map((row) => ({
      ...row,
      fired_at: rfc3339FromClickhouse(row.fired_at),
      range_from: rfc3339FromClickhouse(row.range_from),
      range_to: rfc3339FromClickhouse(row.range_to),
      renewed_at: rfc3339FromClickhouse(row.renewed_at),
      total: Number(row.total),
      denied: Number(row.denied),
      usual_total: Number(row.usual_total),
      usual_denied: Number(row.usual_denied),
    }));
  }

  async add(alerts: Alert[]): Promise<void> {
    if (alerts.length > 0)
      await this.#options.store.append({ table: 'alerts', values: alerts.map((alert) => rowOf(alert, 1)) });
  }

  /** Shows other services that this one delivers them. */
  renew(alerts: Alert[], nowMs: number): Promise<void> {
    return this.add(alerts.map((alert) => ({ ...alert, renewed_at: new Date(nowMs).toISOString() })));
  }

  async setState(alert: Alert, state: AlertState): Promise<void> {
    await this.#options.store.append({ table: 'alerts', values: rowOf({ ...alert, state }, 2) });
  }
}

function rowOf({ id: alert_id, ...alert }: Alert, version: number) {
  const names = ['fired_at', 'range_from', 'range_to', 'renewed_at'] as const;
  const times = names.map((name) => [name, clickhouseTime(Date.parse(alert[name]))]);
  return { ...alert, alert_id, ...Object.fromEntries(times), version };
}
