import type { KeyedMutex } from '../keyed-mutex.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import { type Rule, RULES } from './rules.ts';

export type WebhookTarget = { url: string; secret: string };
export type AlertSettings = {
  project_id: string;
  rules: Record<Rule, boolean>;
  /** 0: not muted. */
  mutedUntilMs: number;
  webhook: WebhookTarget | undefined;
};

type SettingsRow = Record<Rule, number> & {
  project_id: string;
  muted_until: string;
  webhook_url: string;
  webhook_secret: string;
  version: string;
};
type Change = (held: AlertSettings) => Partial<Omit<AlertSettings, 'project_id'>>;
type Options = { store: BoundedStore; mutex: KeyedMutex; now: () => number };

/** Which rules are on in a project, and who is notified. All rules are off at first. */
export class AlertSettingsStore {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async of(projectId: string): Promise<AlertSettings> {
    const [row] = await this.#rows(projectId);
    return settingsFrom(row ?? emptyRow(projectId));
  }

  /** Of all projects that have a rule on. */
  async inUse(): Promise<AlertSettings[]> {
    return (await this.#rows(null)).map(settingsFrom);
  }

  /** Changes of one project run one after the other. Resolves with the new settings. */
  async change(projectId: string, changedBy: string, change: Change): Promise<AlertSettings> {
    const { store, mutex, now } = this.#options;
    return mutex.run(`alerts:${projectId}`, async () => {
      const [row] = await this.#rows(projectId);
      const held = settingsFrom(row ?? emptyRow(projectId));
      const settings = { ...held, ...change(held) };
      const { rules, mutedUntilMs, webhook } = settings;
      const values = {
        project_id: projectId,
        ...Object.fromEntries(RULES.map((rule) => [rule, Number(rules[rule])])),
        muted_until: clickhouseTime(mutedUntilMs),
        webhook_url: webhook?.url ?? '',
        webhook_secret: webhook?.secret ?? '',
        changed_by: changedBy,
        changed_at: clickhouseTime(now()),
        // A later change gets a higher version even if another process's clock is ahead.
        version: Math.max(now(), Number(row?.version ?? 0) + 1),
      };
      await store.append({ table: 'alert_settings', values });
      return settings;
    });
  }

  #rows(projectId: string | null): Promise<SettingsRow[]> {
    return this.#options.store.query<SettingsRow>(sql('alert_settings'), { project_id: projectId });
  }
}

function emptyRow(project_id: string): SettingsRow {
  const off = { denials: 0, new_names: 0, silence: 0 };
  return {
    project_id,
    ...off,
    muted_until: clickhouseTime(0),
    webhook_url: '',
    webhook_secret: '',
    version: '0',
  };
}

function settingsFrom(row: SettingsRow): AlertSettings {
  const { project_id, muted_until, webhook_url: url, webhook_secret: secret } = row;
  return {
    project_id,
    rules: { denials: row.denials === 1, new_names: row.new_names === 1, silence: row.silence === 1 },
    mutedUntilMs: Date.parse(rfc3339FromClickhouse(muted_until)),
    webhook: url === '' ? undefined : { url, secret },
  };
}
