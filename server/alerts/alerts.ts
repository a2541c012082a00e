import type { Logger } from 'pino';
import type { Counter } from 'prom-client';
import { chunksOf } from '../commit/identity.ts';
import { type Alert, alertFrom, isTooOld, newsOf } from './alert.ts';
import type { AlertReads, Seen } from './alert-reads.ts';
import type { AlertSettings, AlertSettingsStore } from './alert-settings.ts';
import type { AlertStore } from './alert-store.ts';
import type { Deliveries } from './deliveries.ts';
import { findDenials, findNewNames, findSilence, RULES } from './rules.ts';
import { ALERT_NAMES_MAX } from '../limits.ts';
import { MINUTE_MS } from '../durations.ts';

/** How often the clock is checked. */
const CHECK_EVERY_MS = 1000;
/** An alert is taken over if its service has not renewed it for this long, and abandoned after an hour. */
const TAKE_OVER_MS = 2 * MINUTE_MS;

/** Projects that share the statements of an evaluation: the alerts of a day of all of them fit into one. */
const EVALUATED_TOGETHER_MAX = 16;

type Round = { seen: Map<string, Seen>; recent: Map<string, Alert[]>; nowMs: number };
type AlertsDeps = {
  settings: Pick<AlertSettingsStore, 'inUse'>;
  store: AlertStore;
  reads: Pick<AlertReads, 'at'>;
  deliveries: Pick<Deliveries, 'deliver' | 'stop'>;
  counter: Counter<'rule'>;
  logger: Logger;
  now: () => number;
};

/**
 * Evaluates the rules of all projects at the start of each minute. If several services share a store, one of them does so. When it is gone,
 * another takes over.
 */
export class Alerts {
  readonly #deps: AlertsDeps;
  readonly #ending = new AbortController();
  readonly #delivering = new Map<Promise<void>, Alert[]>();
  #watchedSinceMs = Number.POSITIVE_INFINITY;
  #minute = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #hasWarned = false;
  /** Projects with a logged fault that is not over. */
  readonly #failing = new Set<string>();

  constructor(deps: AlertsDeps) {
    this.#deps = deps;
    for (const rule of RULES) deps.counter.inc({ rule }, 0);
  }

  start(): void {
    this.#watchedSinceMs = this.#deps.now();
    this.#minute = minuteOf(this.#watchedSinceMs);
    this.#timer = setInterval(() => this.#checkClock(), CHECK_EVERY_MS).unref();
  }

  /** Resolves when nothing is being read, written or sent. */
  async close(): Promise<void> {
    this.#ending.abort();
    clearInterval(this.#timer);
    await this.#running;
    this.#deps.deliveries.stop();
    await Promise.all(this.#delivering.keys());
  }

  #checkClock(): void {
    const minute = minuteOf(this.#deps.now());
    // If a slow store takes longer than a minute, the next minute is skipped; the one after it covers its windows as well.
    if (minute === this.#minute || this.#running !== undefined) return;
    this.#minute = minute;
    this.#running = this.evaluate(minute)
      .then(() => void (this.#hasWarned = false))
      .catch((error: unknown) => {
        if (!this.#hasWarned && !this.#ending.signal.aborted)
          this.#deps.logger.warn({ err: error }, 'The alerts cannot be evaluated; trying again each minute');
        this.#hasWarned = true;
      })
      .finally(() => (this.#running = undefined));
  }

  /** Evaluates a minute, unless another service does. Resolves when new alerts are durable and their delivery has begun. */
  async evaluate(nowMs: number): Promise<void> {
    const { settings, store, reads } = this.#deps;
    await store.renew([...this.#delivering.values()].flat(), nowMs);
    const inUse = await settings.inUse();
    if (inUse.length === 0 || !(await store.claimMinute(nowMs))) return;
    const projectIds = inUse.map(({ project_id }) => project_id);
    const seen = await reads.at({ projectIds, nowMs, signal: this.#ending.signal });
    const recent = Map.groupBy(await store.known(projectIds, [], nowMs), ({ project_id }) => project_id);
    for (const some of chunksOf(inUse, EVALUATED_TOGETHER_MAX))
      await this.#evaluateSome(some, { seen, recent, nowMs });
  }

  /** Together, because statements take most of the time. Each project alone if that fails, so that only the cause of it fails. */
  async #evaluateSome(some: AlertSettings[], round: Round): Promise<void> {
    if (this.#ending.signal.aborted) return;
    try {
      await this.#evaluateTogether(some, round);
    } catch (error) {
      const [{ project_id } = { project_id: '' }, ...others] = some;
      if (others.length === 0) this.#warnOf(project_id, error);
      else for (const one of some) await this.#evaluateSome([one], round);
    }
  }

  #warnOf(project_id: string, err: unknown): void {
    if (!this.#failing.has(project_id) && !this.#ending.signal.aborted)
      this.#deps.logger.warn(
        { err, project_id },
        'The alerts of a project cannot be evaluated; trying again each minute',
      );
    this.#failing.add(project_id);
  }

  async #evaluateTogether(some: AlertSettings[], { seen, recent, nowMs }: Round): Promise<void> {
    const { store, counter } = this.#deps;
    const projectIds = some.map(({ project_id }) => project_id);
    const recentOf = (projectId: string) => recent.get(projectId) ?? [];
    const latest = projectIds.flatMap(recentOf);
    // Limited to the alerts of a day, so that the lookup stays small however many names a sender invents.
    const found = some.flatMap((one) => {
      const { project_id } = one;
      return newsOf(this.#alertsOf(one, seen.get(project_id), nowMs), recentOf(project_id));
    });
    const ids = found.map(({ id }) => id);
    const known = ids.length === 0 ? latest : await store.known(projectIds, ids, nowMs);
    const news = newsOf(found, known);
    await store.add(news);
    for (const { rule } of news) counter.inc({ rule });
    const left = known.filter((alert) => isLeft(alert, nowMs));
    await store.renew(left, nowMs);
    const due = Map.groupBy([...news, ...left], ({ project_id }) => project_id);
    for (const one of some) {
      this.#deliver(due.get(one.project_id) ?? [], one, nowMs);
      if (seen.has(one.project_id)) this.#failing.delete(one.project_id);
      else this.#warnOf(one.project_id, new Error('Its decisions are too many to be read in time'));
    }
  }

  #alertsOf(
    { project_id, rules, mutedUntilMs }: AlertSettings,
    seen: Seen | undefined,
    nowMs: number,
  ): Alert[] {
    if (seen === undefined) return [];
    const { counts, history, agents } = seen;
    // With more names than are read, it is unknown whether one is new.
    const knowsNames = history.length < ALERT_NAMES_MAX;
    const findings = [
      ...(rules.denials ? findDenials(counts, history, nowMs) : []),
      ...(rules.new_names && knowsNames ? findNewNames(counts, history, nowMs) : []),
      ...(rules.silence ? findSilence(agents, this.#watchedSinceMs, nowMs) : []),
    ];
    const isMuted = mutedUntilMs > nowMs;
    return findings.map((finding) => alertFrom(finding, { projectId: project_id, isMuted, nowMs }));
  }

  #deliver(alerts: Alert[], settings: AlertSettings, nowMs: number): void {
    const pending = alerts.filter(({ state }) => state === 'pending');
    if (pending.length === 0) return;
    const delivering = this.#settle(pending, settings, nowMs)
      .catch((error: unknown) => {
        if (!this.#ending.signal.aborted)
          this.#deps.logger.warn(
            { err: error, project_id: settings.project_id },
            'Alerts are not delivered yet; trying again',
          );
      })
      .finally(() => this.#delivering.delete(delivering));
    this.#delivering.set(delivering, pending);
  }

  /** Notifies people of alerts, except those that another service abandoned too long ago, or of a project that is now muted. */
  async #settle(alerts: Alert[], settings: AlertSettings, nowMs: number): Promise<void> {
    const { deliveries, store } = this.#deps;
    const isOld = (alert: Alert) => isTooOld(alert, nowMs);
    for (const alert of alerts.filter(isOld)) await store.setState(alert, 'failed');
    const due = alerts.filter((alert) => !isOld(alert));
    if (due.length === 0) return;
    if (settings.mutedUntilMs <= nowMs)
      return deliveries.deliver(due, settings, (alert, isNotified) =>
        store.setState(alert, isNotified ? 'sent' : 'failed'),
      );
    for (const alert of due) await store.setState(alert, 'muted');
  }
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS) * MINUTE_MS;
}

/** Whether no service is delivering it. */
function isLeft({ state, renewed_at }: Alert, nowMs: number): boolean {
  return state === 'pending' && nowMs - Date.parse(renewed_at) >= TAKE_OVER_MS;
}
