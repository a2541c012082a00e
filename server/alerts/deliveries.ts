import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { Logger } from 'pino';
import type { Counter } from 'prom-client';
import { WEBHOOKS_SENDING_MAX } from '../limits.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Alert } from './alert.ts';
import { inLine, linkOf, sentenceOf } from './alert-words.ts';
import type { AlertSettings, WebhookTarget } from './alert-settings.ts';
import { postWebhook, WebhookFault, type WebhookMessage } from './webhook.ts';

/** The result label of gate_alert_webhooks_total. `retried` counts attempts; the others are final. */
const WEBHOOK_RESULTS = ['sent', 'retried', 'failed'] as const;
type WebhookResult = (typeof WEBHOOK_RESULTS)[number];

/** The store answers one after the other, and an evaluation must not wait behind many. */
const STATEMENTS_RUNNING_MAX = 4;

/** Enough for the mailer to be busy, even if some wait for another attempt. */
const MAILINGS_MAX = 64;

export type DeliveryDeps = {
  mailer: Pick<Mailer, 'postAlert'>;
  /** The verified addresses of a project's admins and owners, and its name. */
  audienceOf: (projectId: string) => Promise<{ name: string; emails: string[] }>;
  /** The current webhook of a project. */
  webhookOf: (projectId: string) => Promise<WebhookTarget | undefined>;
  dashboardUrl: string;
  mayBePrivate: boolean;
  /** A failed attempt is repeated after each of these delays. */
  retryMs: readonly number[];
  counter: Counter<'result'>;
  logger: Logger;
  now: () => number;
};

/** Notifies people of alerts, by mail and by the webhook of the project. Bounded in time. */
export class Deliveries {
  readonly #deps: DeliveryDeps;
  readonly #attempts = new PQueue({ concurrency: WEBHOOKS_SENDING_MAX });
  /** Thousands of projects may alert at once. Reports are first: what was sent must not be sent again. */
  readonly #statements = new PQueue({ concurrency: STATEMENTS_RUNNING_MAX });
  /** The mailer drops what is too much for it, mails of others included. */
  readonly #mailings = new PQueue({ concurrency: MAILINGS_MAX });
  readonly #ending = new AbortController();
  readonly #stopped = once(this.#ending.signal, 'abort').then(() => undefined);

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    for (const result of WEBHOOK_RESULTS) deps.counter.inc({ result }, 0);
  }

  /** Alerts not delivered by then are sent again by the next service. */
  stop(): void {
    this.#ending.abort();
  }

  /**
   * Delivers alerts of one project that fired together: one mail for all, one webhook each. Reports for each whether anybody was notified,
   * except for those still in progress when the service stopped.
   */
  async deliver(
    alerts: Alert[],
    { webhook }: AlertSettings,
    report: (alert: Alert, isNotified: boolean) => Promise<void>,
  ): Promise<void> {
    const { audienceOf } = this.#deps;
    const { emails, ...project } = await this.#statements.add(() => audienceOf(alerts[0]?.project_id ?? ''), {
      signal: this.#ending.signal,
    });
    const name = inLine(project.name);
    const mail = async () => (this.#ending.signal.aborted ? undefined : this.#mail(alerts, { name, emails }));
    const mailing = Promise.race([this.#mailings.add(mail), this.#stopped]);
    let reporting = Promise.resolve();
    // Sequential, and none after a permanent failure: a hanging receiver must not take the place of others.
    let isUp = webhook !== undefined;
    for (const alert of alerts) {
      const message = messageOf(alert, { name, url: linkOf(alert, this.#deps.dashboardUrl) });
      const isSent = isUp && (await this.#send(alert.project_id, message, webhook));
      if (isSent === undefined) break;
      isUp = isSent;
      // Not after all of them: a service that takes over must not send this one again.
      reporting = Promise.all([mailing, reporting]).then(async ([isMailed]) => {
        if (isMailed !== undefined)
          await this.#statements.add(() => report(alert, isSent || isMailed), { priority: 1 });
      });
      // An error is thrown below, once the delivery of the others has begun.
      reporting.catch(() => undefined);
    }
    await reporting;
  }

  async #mail(alerts: Alert[], { name, emails }: { name: string; emails: string[] }): Promise<boolean> {
    const { mailer, dashboardUrl } = this.#deps;
    const [first, ...others] = alerts;
    if (first === undefined) return false;
    const page = `${dashboardUrl}/projects/${encodeURIComponent(first.project_id)}/alerts`;
    const link = others.length === 0 ? linkOf(first, dashboardUrl) : page;
    const sentences = alerts.map(sentenceOf);
    const sent = emails.map((to) => mailer.postAlert({ to, project: name, sentences, link }));
    return (await Promise.all(sent)).includes(true);
  }

  /** `known`: the webhook if the store does not answer. */
  async #send(projectId: string, message: Omit<WebhookMessage, 'atMs'>, known: WebhookTarget | undefined) {
    const { webhookOf, mayBePrivate, now } = this.#deps;
    const { signal } = this.#ending;
    for (const waitMs of [...this.#deps.retryMs, undefined]) {
      const webhook = await this.#statements.add(() => webhookOf(projectId).catch(() => known));
      if (webhook === undefined) return false;
      const fault = await this.#attempts.add(() =>
        postWebhook(webhook, { ...message, atMs: now() }, { mayBePrivate, signal }).then(
          () => undefined,
          (error: unknown) => (error instanceof WebhookFault ? error.message : 'The webhook cannot be sent'),
        ),
      );
      if (fault === undefined) {
        this.#deps.counter.inc({ result: 'sent' });
        return true;
      }
      if (signal.aborted) return undefined;
      this.#countAndLog(message.id, waitMs === undefined ? 'failed' : 'retried', fault);
      await sleep(waitMs ?? 0, undefined, { signal, ref: false }).catch(() => undefined);
    }
    return false;
  }

  /** Logs neither the address, which may hold a token, nor the secret. */
  #countAndLog(alert_id: string, result: WebhookResult, reason: string): void {
    this.#deps.counter.inc({ result });
    this.#deps.logger.error({ alert_id, result, reason }, 'A webhook did not arrive');
  }
}

/**
 * `{ type, timestamp, data }`, as Standard Webhooks recommends. The id is that of the alert, so a receiver can detect repeated deliveries.
 */
function messageOf(alert: Alert, { name, url }: { name: string; url: string }): Omit<WebhookMessage, 'atMs'> {
  const { id, project_id, rule, agent_name, tool_name, range_from, range_to, total, denied } = alert;
  const data = {
    id,
    project_id,
    project_name: name,
    rule,
    agent_name,
    tool_name: tool_name === '' ? null : tool_name,
    from: range_from,
    to: range_to,
    total,
    denied,
    usual: { total: alert.usual_total, denied: alert.usual_denied },
    message: sentenceOf(alert),
    url,
  };
  return { id, body: JSON.stringify({ type: `alert.${rule}`, timestamp: alert.fired_at, data }) };
}
