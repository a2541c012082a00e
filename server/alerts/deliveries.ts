import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { Logger } from 'pino';
import type { Counter } from 'prom-client';
import { WEBHOOKS_SENDING_MAX } from '../limits.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Alert } from './alert.ts';
import { linkOf, sentenceOf } from './alert-words.ts';
import type { AlertSettings } from './alert-settings.ts';
import { postWebhook, WebhookFault, type WebhookMessage } from './webhook.ts';

/** The result label of gate_alert_webhooks_total. `retried` counts attempts; the others are final. */
const WEBHOOK_RESULTS = ['sent', 'retried', 'failed'] as const;
type WebhookResult = (typeof WEBHOOK_RESULTS)[number];

export type DeliveryDeps = {
  mailer: Pick<Mailer, 'postAlert'>;
  /** The addresses of a project's admins and owners that are verified, and its name. */
  audienceOf: (projectId: string) => Promise<{ name: string; emails: string[] }>;
  dashboardUrl: string;
  mayBePrivate: boolean;
  /** A failed attempt is repeated after each of these delays. */
  retryMs: readonly number[];
  counter: Counter<'result'>;
  logger: Logger;
  now: () => number;
};

/** Tells people of alerts: by mail, and by the webhook of the project. Bounded in time. */
export class Deliveries {
  readonly #deps: DeliveryDeps;
  readonly #attempts = new PQueue({ concurrency: WEBHOOKS_SENDING_MAX });
  readonly #ending = new AbortController();

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    for (const result of WEBHOOK_RESULTS) deps.counter.inc({ result }, 0);
  }

  /** What did not arrive by then is sent again by the next service. */
  stop(): void {
    this.#ending.abort();
  }

  /** Resolves with whether anybody was told, undefined when the service stopped before that was known. */
  async deliver(alert: Alert, { webhook }: AlertSettings): Promise<boolean | undefined> {
    const { mailer, audienceOf, dashboardUrl } = this.#deps;
    const { name, emails } = await audienceOf(alert.project_id);
    const url = linkOf(alert, dashboardUrl);
    for (const to of emails) mailer.postAlert({ to, project: name, sentence: sentenceOf(alert), link: url });
    if (webhook === undefined) return emails.length > 0;
    const message = messageOf(alert, { name, url, atMs: this.#deps.now() });
    const isSent = await this.#send(webhook, message);
    return isSent === false ? emails.length > 0 : isSent;
  }

  async #send(webhook: NonNullable<AlertSettings['webhook']>, message: WebhookMessage) {
    const { signal } = this.#ending;
    const options = { mayBePrivate: this.#deps.mayBePrivate, signal };
    for (const waitMs of [...this.#deps.retryMs, undefined]) {
      const fault = await this.#attempts.add(() =>
        postWebhook(webhook, message, options).then(
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

/** `{ type, timestamp, data }`, as Standard Webhooks recommends. The id is the alert's: whoever gets it twice knows it. */
function messageOf(
  alert: Alert,
  { name, url, atMs }: { name: string; url: string; atMs: number },
): WebhookMessage {
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
  return { id, atMs, body: JSON.stringify({ type: `alert.${rule}`, timestamp: alert.fired_at, data }) };
}
