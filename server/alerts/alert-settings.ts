import type { KeyedMutex } from '../keyed-mutex.ts';
import { MS_MAX } from '../records/cursor.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { changeInTurn } from '../store/change-in-turn.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, msFromClickhouse } from '../store/time.ts';
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

/** Which rules are on in a project, and who is notified. All rules are off initially. */
export class AlertSettingsStore {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async of(projectId: string): Promise<AlertSettings> {
    const [row] = await this.#rows(projectId);
    return settingsFrom(projectId, row);
  }

  /** The settings of all projects that have a rule on. */
  async inUse(): Promise<AlertSettings[]> {
    return (await this.#rows(null)).map((row) => settingsFrom(row.project_id, row));
  }

  /** Changes of one project run one after the other, in all processes. Resolves with the new settings. */
  async change(projectId: string, changedBy: string, change: Change): Promise<AlertSettings> {
    const { now } = this.#options;
    return changeInTurn(this.#options, `alerts:${projectId}`, async () => {
      const [row] = await this.#rows(projectId);
      const held = settingsFrom(projectId, row);
      const result = { ...held, ...change(held) };
      const { rules, mutedUntilMs, webhook } = result;
      const after = Number(row?.version ?? 0);
      const values = {
        project_id: projectId,
        ...Object.fromEntries(RULES.map((rule) => [rule, Number(rules[rule])])),
        muted_until: clickhouseTime(Math.min(Math.max(mutedUntilMs, 0), MS_MAX)),
        webhook_url: webhook?.url ?? '',
        webhook_secret: webhook?.secret ?? '',
        changed_by: changedBy,
        changed_at: clickhouseTime(now()),
        // A later change gets a higher version even if another process's clock is ahead.
        version: Math.max(now(), after + 1),
      };
      return { result, change: { table: 'alert_settings', values, after } };
    });
  }

  /** False if there is none. */
  async removeWebhook(projectId: string, changedBy: string): Promise<boolean> {
    if ((await this.of(projectId)).webhook === undefined) return false;
    await this.change(projectId, changedBy, () => ({ webhook: undefined }));
    return true;
  }

  #rows(projectId: string | null): Promise<SettingsRow[]> {
    return this.#options.store.query<SettingsRow>(sql('alert_settings'), { project_id: projectId });
  }
}

/** Without a row, all rules are off and nobody is notified. */
function settingsFrom(project_id: string, row?: SettingsRow): AlertSettings {
  const isOn = (rule: Rule) => row?.[rule] === 1;
  return {
    project_id,
    rules: { denials: isOn('denials'), new_names: isOn('new_names'), silence: isOn('silence') },
    mutedUntilMs: row === undefined ? 0 : msFromClickhouse(row.muted_until),
    webhook: row?.webhook_url ? { url: row.webhook_url, secret: row.webhook_secret } : undefined,
  };
}
