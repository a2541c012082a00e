import { expect } from 'chai';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { call, jsonOf, newPerson, type Person, requestToken, useToken } from './accounts.ts';
import { batchOutcome, sendBatch } from './batch.ts';
import type { ServiceClock } from './clock.ts';
import { decisionEvent } from './events.ts';
import { eventually } from './eventually.ts';
import { issue } from './keys.ts';
import type { RunningService } from './service.ts';
import type { MailServer } from './smtp-server.ts';
import { DAY_MS, HOUR_MS } from '../../server/durations.ts';
import { listen } from './listen.ts';

const CALLS_AN_HOUR = 40;

export type AlertBody = { type: string; data: Record<string, unknown> };
export type Received = { headers: IncomingHttpHeaders; body: string };
type Item = Record<string, unknown> & { rule: string; state: string; from: string; to: string };

/** A real receiver, which refuses the first attempts, each after `beforeRefusal`. */
export async function startReceiver(refusals = 0, beforeRefusal?: () => Promise<unknown>) {
  const received: Received[] = [];
  let left = refusals;
  const server = createServer((req, res) => {
    void text(req).then(async (body) => {
      left -= 1;
      const isRefused = left >= 0;
      if (isRefused) await beforeRefusal?.();
      else received.push({ headers: req.headers, body });
      res.writeHead(isRefused ? 500 : 204).end();
    });
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}/hook`,
    received,
    attempts: () => refusals - left,
    close: () => server.close(),
  };
}

/** The clock of a service, and its current time. */
export function watchOf(clock: ServiceClock) {
  let aheadMs = 0;
  const passMs = (ms: number) => {
    aheadMs += ms;
    clock.passMs(ms);
  };
  return { passMs, at: (ms: number) => new Date(Date.now() + aheadMs + ms).toISOString() };
}

/** An owner with a verified address, all rules on, and a webhook. */
export async function alertedOwner(service: RunningService, mails: MailServer, url: string) {
  const owner = await newPerson(service);
  await requestToken(service, 'verify', owner.email);
  const mail = await eventually(() => mails.mails.find(({ to }) => to === owner.email));
  await useToken(service, 'verify', /verify-email\/([\w-]{43})/.exec(mail.text)?.[1] ?? '');
  const { secret } = await jsonOf<{ secret: string }>(change(service, owner, 'webhook', { url }));
  const rules = { denials: true, new_names: true, silence: true };
  await change(service, owner, 'settings', { rules });
  return { owner, secret, key: (await issue(service, owner)).key };
}

export function change(service: RunningService, { project, cookie }: Person, what: string, body: unknown) {
  return call(service, `/v1/projects/${project.id}/alerts/${what}`, { method: 'PUT', cookie, body });
}

export async function alertsOf(service: RunningService, { project, cookie }: Person): Promise<Item[]> {
  return (await jsonOf<{ items: Item[] }>(call(service, `/v1/projects/${project.id}/alerts`, { cookie })))
    .items;
}

export async function send(service: RunningService, key: string, events: unknown[]): Promise<void> {
  for (let from = 0; from < events.length; from += 1000)
    expect(await batchOutcome(sendBatch(service, events.slice(from, from + 1000), { key }))).to.include({
      status: 202,
    });
}

export const times = <T>(count: number, event: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => event(index));

/** Nine days of an agent that calls steadily, from an hour before the current time of day to two hours after, with occasional denials. */
export function historyOf(at: (ms: number) => string) {
  const calls = 3 * CALLS_AN_HOUR;
  const before = (index: number) =>
    2 * HOUR_MS - Math.floor(index / calls) * DAY_MS - ((index % calls) + 1) * (HOUR_MS / CALLS_AN_HOUR);
  return times(10 * calls, before)
    .filter((ms) => ms < 0)
    .map((ms, index) =>
      decisionEvent({
        agent_name: 'clerk',
        tool_name: 'pay',
        outcome: index % 50 === 0 ? 'deny' : 'allow',
        occurred_at: at(ms),
      }),
    );
}

export const denialsNow = (at: (ms: number) => string) =>
  times(30, () =>
    decisionEvent({ agent_name: 'clerk', tool_name: 'pay', outcome: 'deny', occurred_at: at(-1000) }),
  );
