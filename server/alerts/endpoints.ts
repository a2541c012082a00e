import { randomBytes } from 'node:crypto';
import type { MemberCaller } from '../access/access.ts';
import type { ActivityEntry, RecordActivity } from '../activity/activity.ts';
import { endpoint } from '../http/endpoint.ts';
import {
  answer,
  BOOLEAN,
  COUNT,
  NEXT_CURSOR,
  nullable,
  NULLABLE_TIME,
  oneOf,
  PAGE,
  PROJECT_ID,
  STRING,
  TIME,
  UUID,
} from '../http/schemas.ts';
import { nextTimeCursor, parseTimeCursor } from '../http/time-cursor.ts';
import { WEBHOOK_URL_CHARS_MAX } from '../limits.ts';
import { parseRfc3339 } from '../rfc3339.ts';
import { hasRole } from '../rights.ts';
import { bodyInvalid } from '../validate.ts';
import { isTooOld, STATES } from './alert.ts';
import type { AlertSettings, AlertSettingsStore } from './alert-settings.ts';
import type { AlertStore } from './alert-store.ts';
import { RULES } from './rules.ts';
import { webhookFault } from './webhook.ts';
import { Type } from '../type.ts';

export type AlertDeps = {
  alertSettings: AlertSettingsStore;
  alertStore: AlertStore;
  webhookPrivate: boolean;
  recordActivity: RecordActivity;
  now: () => number;
};

/** 24 to 64 bytes (Standard Webhooks, "Signature scheme"). */
const SECRET_BYTES = 32;

const ALERT = answer(
  {
    id: UUID,
    fired_at: TIME,
    rule: oneOf(RULES),
    agent_name: STRING,
    tool_name: nullable<string>('string', { description: 'Null: all tools of the agent, or no tool' }),
    from: TIME,
    to: TIME,
    total: COUNT,
    denied: COUNT,
    usual: answer({ total: COUNT, denied: COUNT }),
    state: oneOf(STATES, { description: 'What became of it. `failed`: nobody could be notified' }),
  },
  'Alert',
);
const SETTINGS = answer(
  {
    project_id: STRING,
    rules: answer({ denials: BOOLEAN, new_names: BOOLEAN, silence: BOOLEAN }),
    muted_until: NULLABLE_TIME,
    webhook: nullable<{ url: string }>('object', {
      properties: { url: STRING },
      required: ['url'],
      additionalProperties: false,
    }),
  },
  'AlertSettings',
);
const RULE = Type.Optional(Type.Boolean());
const CHANGES = Type.Object({
  rules: Type.Optional(Type.Object({ denials: RULE, new_names: RULE, silence: RULE })),
  muted_until: Type.Optional(
    nullable<string>('string', {
      format: 'date-time',
      description: 'Alerts are muted until this time; null: not muted',
    }),
  ),
});

const OF_PROJECT = { tag: 'Projects', params: { id: PROJECT_ID } } as const;

/** The alerts of a project, its enabled rules, and its webhook. */
export function alertEndpoints({
  alertSettings,
  alertStore,
  webhookPrivate,
  recordActivity,
  now,
}: AlertDeps) {
  type Call = { caller: MemberCaller; params: { id: string }; readonly address: string };
  const change = async (
    { caller: { actor }, params: { id }, address }: Call,
    { event, detail }: Pick<ActivityEntry, 'event'> & { detail: Record<string, unknown> },
    changes: (held: AlertSettings) => Partial<AlertSettings>,
    confirm?: () => Promise<void>,
  ) => {
    const settings = await alertSettings.change(id, actor.account_id, changes);
    await confirm?.();
    await recordActivity({ event, project_id: id, detail, actor, address });
    return settings;
  };
  const settingsFor = (
    { project_id, rules, mutedUntilMs, webhook }: AlertSettings,
    { role }: MemberCaller,
  ) => ({
    project_id,
    rules,
    muted_until: mutedUntilMs > now() ? new Date(mutedUntilMs).toISOString() : null,
    webhook:
      webhook === undefined
        ? null
        : { url: hasRole(role, 'admin') ? webhook.url : new URL(webhook.url).origin },
  });
  return [
    endpoint({
      ...OF_PROJECT,
      method: 'GET',
      path: '/v1/projects/{id}/alerts',
      id: 'listAlerts',
      summary: 'List alerts',
      description: 'The alerts of the last 90 days, newest first.',
      allow: { role: 'viewer' },
      query: Type.Object(PAGE),
      answers: {
        200: {
          description: 'One page',
          schema: answer(
            { project_id: STRING, items: Type.Array(ALERT), limit: COUNT, next_cursor: NEXT_CURSOR },
            'Alerts',
          ),
        },
      },
      handle: async ({ params: { id: projectId }, query: { limit, cursor } }) => {
        const found = await alertStore.page({ projectId, before: parseTimeCursor(cursor), limit: limit + 1 });
        return {
          project_id: projectId,
          items: found.slice(0, limit).map((alert) => ({
            id: alert.id,
            fired_at: alert.fired_at,
            rule: alert.rule,
            agent_name: alert.agent_name,
            tool_name: alert.tool_name === '' ? null : alert.tool_name,
            from: alert.range_from,
            to: alert.range_to,
            total: alert.total,
            denied: alert.denied,
            usual: { total: alert.usual_total, denied: alert.usual_denied },
            // A service that was killed may have left it.
            state: alert.state === 'pending' && isTooOld(alert, now()) ? 'failed' : alert.state,
          })),
          limit,
          next_cursor: nextTimeCursor(found, limit, ({ fired_at }) => fired_at),
        };
      },
    }),
    endpoint({
      ...OF_PROJECT,
      method: 'GET',
      path: '/v1/projects/{id}/alerts/settings',
      id: 'readAlertSettings',
      summary: 'Read the alert settings',
      description:
        'Which rules are on, and who is notified. All rules are off by default. The address of the webhook may hold a token, so viewers and editors see only its origin.',
      allow: { role: 'viewer' },
      answers: { 200: { description: 'The settings', schema: SETTINGS } },
      handle: async ({ caller, params: { id } }) => settingsFor(await alertSettings.of(id), caller),
    }),
    endpoint({
      ...OF_PROJECT,
      method: 'PUT',
      path: '/v1/projects/{id}/alerts/settings',
      id: 'changeAlertSettings',
      summary: 'Change the alert settings',
      description:
        'Switches rules on or off, or mutes all of them until a time. Omitted fields stay as they are.',
      allow: { role: 'editor' },
      body: { schema: CHANGES, example: { rules: { denials: true } } },
      answers: { 200: { description: 'The settings', schema: SETTINGS } },
      handle: async (call) => {
        const { rules: asked = {}, muted_until } = call.body;
        // Unknown names are ignored, as everywhere.
        const known = RULES.filter((rule) => asked[rule] !== undefined);
        const rules = Object.fromEntries(known.map((rule) => [rule, asked[rule]]));
        const detail = { ...rules, ...(muted_until === undefined ? {} : { muted_until }) };
        const settings = await change(call, { event: 'alerts_changed', detail }, (held) => ({
          rules: { ...held.rules, ...rules },
          mutedUntilMs:
            muted_until === undefined ? held.mutedUntilMs : (parseRfc3339(muted_until ?? '') ?? 0),
        }));
        return settingsFor(settings, call.caller);
      },
    }),
    endpoint({
      ...OF_PROJECT,
      method: 'PUT',
      path: '/v1/projects/{id}/alerts/webhook',
      id: 'setAlertWebhook',
      summary: 'Set the webhook of alerts',
      description:
        'Alerts are posted to this address, signed as Standard Webhooks says. Each call makes a new secret, and only this answer contains it.',
      allow: { role: 'admin' },
      body: {
        schema: Type.Object({ url: Type.String({ maxLength: WEBHOOK_URL_CHARS_MAX, format: 'text' }) }),
        example: { url: 'https://hooks.example.com/gatehouse' },
      },
      answers: {
        200: { description: 'The webhook', schema: answer({ url: STRING, secret: STRING }, 'AlertWebhook') },
      },
      handle: async (call) => {
        const fault = webhookFault(call.body.url, webhookPrivate);
        if (fault !== undefined) throw bodyInvalid([{ path: '/url', message: fault }]);
        const { href: url, host } = new URL(call.body.url);
        const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
        const webhook = { url, secret };
        // A password reset may have removed the webhook before this one was stored.
        const takeBack = () =>
          alertSettings.change(call.params.id, call.caller.actor.account_id, (held) => ({
            webhook: held.webhook?.secret === secret ? undefined : held.webhook,
          }));
        await change(
          call,
          { event: 'webhook_set', detail: { host } },
          () => ({ webhook }),
          () => call.confirm(takeBack),
        );
        return webhook;
      },
    }),
    endpoint({
      ...OF_PROJECT,
      method: 'DELETE',
      path: '/v1/projects/{id}/alerts/webhook',
      id: 'removeAlertWebhook',
      summary: 'Remove the webhook of alerts',
      description: 'Alerts are no longer posted.',
      allow: { role: 'admin' },
      answers: { 204: { description: 'There is no webhook' } },
      handle: async ({ caller: { actor }, params: { id }, address }) => {
        if (await alertSettings.removeWebhook(id, actor.account_id))
          await recordActivity({ event: 'webhook_removed', project_id: id, actor, address });
      },
    }),
  ];
}
