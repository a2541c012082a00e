import { expect } from 'chai';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { createHash } from 'node:crypto';
import { eventually } from '../support/eventually.ts';
import { sendDecision, sendLlm, timeFromNow } from '../support/audit.ts';
import { type BatchAnswer, sendBatch } from '../support/batch.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { keySetOf } from '../support/keys.ts';
import { ask } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';

type WithReceipts = BatchAnswer & { receipts: { index: number; receipt: string }[] };
const WANTED = { 'Gate-Want-Receipt': '1' };

describe('receipts', () => {
  const service = useSharedService();

  const receiptOf = async (event: object, headers: Record<string, string> = WANTED) =>
    (await sendDecision(service, event, { headers })).headers.get('Gate-Receipt');

  /** Verifies a receipt with the public keys alone, and returns its claims. */
  async function claimsOf(receipt: string | null) {
    const keys = createLocalJWKSet(await keySetOf(service));
    const { payload } = await jwtVerify(receipt ?? '', keys, {
      typ: 'gate-receipt+jwt',
      issuer: 'gatehouse',
      algorithms: ['EdDSA'],
    });
    return payload;
  }

  /** The line of an export with the event, once there is one. */
  const lineOf = (path: string, eventId: string) =>
    eventually(async () => {
      const { text } = await ask(service, path, { query: { window: '90d' } });
      return text.split('\n').find((line) => line.includes(eventId));
    });

  /** The entry of a record by its line in the export and its salt. */
  async function entryOf(eventId: string): Promise<string> {
    const line = await lineOf('decisions/export', eventId);
    const { salt } = JSON.parse(await lineOf('decisions/export/proofs', eventId)) as { salt: string };
    return createHash('sha256').update(Buffer.from(salt, 'base64')).update(line).digest('base64url');
  }

  it('are compact JWS of the root key over the entry of the record', async () => {
    const event_id = 'ABCDEF01-2345-4abc-8DEF-0123456789ab';
    const nowSeconds = Math.floor(Date.now() / 1000);

    const receipt = await receiptOf(decisionEvent({ event_id, reason: 'a/b\u007f\u2028"\\' }));

    const { iat = 0, ...claims } = await claimsOf(receipt);
    expect(claims).to.deep.equal({
      iss: 'gatehouse',
      sub: service.project_id,
      jti: event_id.toLowerCase(),
      entry: await entryOf(event_id.toLowerCase()),
    });
    expect(iat).to.be.within(nowSeconds, nowSeconds + 60);
    expect(decodeProtectedHeader(receipt ?? '')).to.have.all.keys('alg', 'typ', 'kid');
  });

  it('are given only when asked for, and never for usage', async () => {
    const usage = await sendLlm(service, llmInvocation(), { headers: WANTED });
    const batch = await sendBatch(service, [decisionEvent()]);

    expect(await receiptOf(decisionEvent(), {})).to.equal(null);
    expect(await receiptOf(decisionEvent(), { 'Gate-Want-Receipt': '0' })).to.equal(null);
    expect([usage.status, usage.headers.get('Gate-Receipt')]).to.deep.equal([202, null]);
    expect(await batch.json()).to.not.have.property('receipts');
  });

  it('of a re-post are those of the stored record, whatever the re-post says', async () => {
    const event = decisionEvent({ occurred_at: timeFromNow(-5000) });
    const first = await claimsOf(await receiptOf(event));

    const same = await claimsOf(await receiptOf(event));
    const other = await claimsOf(
      await receiptOf({ ...event, outcome: 'deny', occurred_at: timeFromNow(-90_000_000) }),
    );

    expect([same['entry'], other['entry']]).to.deep.equal([first['entry'], first['entry']]);
    expect(first['entry']).to.equal(await entryOf(String(event['event_id'])));
  });

  it('of a batch cover its accepted events and duplicates, by their positions', async () => {
    const known = decisionEvent();
    await sendDecision(service, known);
    const events = [decisionEvent(), decisionEvent({ outcome: 'no' }), known, decisionEvent()];

    const response = await sendBatch(service, events, { headers: WANTED });
    const { receipts } = (await response.json()) as WithReceipts;

    expect(response.status).to.equal(207);
    expect(receipts.map(({ index }) => index)).to.deep.equal([0, 2, 3]);
    for (const { index, receipt } of receipts) {
      const { jti, entry } = await claimsOf(receipt);
      expect(jti).to.equal(events[index]?.['event_id']);
      expect(entry).to.equal(await entryOf(String(jti)));
    }
  });

  it('of many simultaneous callers are not mixed up', async () => {
    const events = Array.from({ length: 50 }, () => decisionEvent());

    const claims = await Promise.all(events.map(async (event) => claimsOf(await receiptOf(event))));

    expect(claims.map(({ jti }) => jti)).to.deep.equal(events.map(({ event_id }) => event_id));
    expect(new Set(claims.map(({ entry }) => entry)).size).to.equal(50);
  });
});
