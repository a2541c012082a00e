import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { call } from '../support/accounts.ts';
import { readDecisions, readSummary, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { issue } from '../support/keys.ts';
import { completenessOf, emitterOf, gapsOf, type GapItem, type GapPage } from '../support/ledger.ts';
import { askJson, refusal } from '../support/reads.ts';
import { sharedService } from '../support/shared-service.ts';
import { DAY_MS } from '../../server/durations.ts';

const NOTHING = { emitters: 0, unclosed: 0, emitted: 0, received: 0, dropped: 0, missing: 0, percent: null };

/** The numbers of a gap. */
const sizes = ({ from_sequence, to_sequence, dropped, missing }: GapItem) =>
  [from_sequence, to_sequence, dropped, missing] as const;

describe('what senders report about their own count', () => {
  it('a project whose senders report nothing has nothing to show', async () => {
    const service = await sharedService();
    await call(service, '/v1/audit/decisions', { key: service.key, body: decisionEvent() });

    expect(await completenessOf(service)).to.deep.equal(NOTHING);
    expect(await askJson(service, 'gaps')).to.deep.equal({ items: [], next_cursor: null });
    expect(await readSummary(service)).to.include({ completeness: null });
  });

  it('counts the drops that the later number reports as dropped, and the rest of a gap as missing', async () => {
    const service = await sharedService();
    const emitter = emitterOf(service);
    for (const [sequence, dropped] of [
      [1, 0],
      [2, 0],
      [5, 2],
      [10, 3],
    ] as const)
      await emitter.send({ sequence, dropped });

    const counts = {
      ...NOTHING,
      emitters: 1,
      emitted: 10,
      received: 4,
      dropped: 3,
      missing: 3,
      percent: 40,
    };
    expect(await completenessOf(service)).to.deep.equal(counts);
    expect((await gapsOf(service)).map(sizes)).to.deep.equal([
      [6, 9, 1, 3],
      [3, 4, 2, 0],
    ]);
    const { completeness } = (await readSummary(service)) as unknown as { completeness: unknown };
    expect(completeness).to.deep.equal(counts);
  });

  it('number 0 is the first neighbour', async () => {
    const service = await sharedService();
    const emitter = emitterOf(service);
    await emitter.send({ sequence: 4, dropped: 1 }, { agent_name: 'late-starter' });

    expect(await completenessOf(service)).to.include({
      emitted: 4,
      received: 1,
      dropped: 1,
      missing: 2,
      percent: 25,
    });
    const [gap] = await gapsOf(service);
    expect(gap).to.include({
      emitter: emitter.id,
      agent_name: 'late-starter',
      stream: 'decisions',
      after: null,
    });
    const [record] = (await readDecisions(service)).items;
    expect(gap?.before).to.equal(record?.received_at);
  });

  it('a close report is a neighbour after the last number, and the first of two counts', async () => {
    const service = await sharedService();
    const emitter = emitterOf(service);
    await emitter.send({ sequence: 1, dropped: 0 }, { agent_name: 'bot' });
    const first = await emitter.close({ emitted: 5, dropped: 3, failed: 1 });
    const second = await emitter.close({ emitted: 50, dropped: 0, failed: 0 });

    expect([first.status, second.status]).to.deep.equal([202, 202]);
    expect(await completenessOf(service)).to.deep.equal({
      ...NOTHING,
      emitters: 1,
      emitted: 5,
      received: 1,
      dropped: 3,
      missing: 1,
      percent: 20,
    });
    const gaps = await gapsOf(service);
    expect(gaps.map(sizes)).to.deep.equal([[2, 5, 3, 1]]);
    expect(gaps[0]).to.include({ agent_name: 'bot' });
    expect(gaps[0]?.after).to.equal((await readDecisions(service)).items[0]?.received_at);
    // A late event fills its gap.
    await emitter.send({ sequence: 3, dropped: 1 });
    expect(await completenessOf(service)).to.include({ emitted: 5, received: 2, dropped: 3, missing: 0 });
  });

  it('a sender that only closed is a sender', async () => {
    const service = await sharedService();
    await emitterOf(service).close({ emitted: 2, dropped: 1, failed: 1 });

    expect(await completenessOf(service)).to.include({
      emitters: 1,
      emitted: 2,
      received: 0,
      dropped: 1,
      missing: 1,
      percent: 0,
    });
    expect(await gapsOf(service)).to.have.length(1);
  });

  it('a batch gives its numbers as ranges, in the order of its events', async () => {
    const service = await sharedService();
    const emitter = emitterOf(service);
    const rejected = { outcome: 'maybe' };
    await emitter.batch({ sequence: '2-3,6-7', dropped: 3 }, [{}, rejected, {}, {}]);

    expect((await gapsOf(service)).map(sizes)).to.deep.equal([
      [3, 5, 2, 1],
      [1, 1, 1, 0],
    ]);
    await emitter.batch({ sequence: '3', dropped: 1 }, [{}]);
    expect(await completenessOf(service)).to.include({ emitted: 7, received: 4, dropped: 3, missing: 0 });
  });

  it('a header that is absent or malformed costs no event and reports nothing', async () => {
    const service = await sharedService();
    const good = randomUUID();
    const single: Record<string, string>[] = [
      { 'Gate-Sequence': '1', 'Gate-Dropped': '0' },
      { 'Gate-Emitter': good, 'Gate-Dropped': '0' },
      ...['', 'x', good.slice(1), `${good}, ${good}`].map((emitter) => ({
        'Gate-Emitter': emitter,
        'Gate-Sequence': '1',
      })),
      ...['', '0', '-1', '01', '1.0', '1e3', '+1', '1-2', '1,2', '9007199254740993', '1 2', 'x'].map(
        (sequence) => ({
          'Gate-Emitter': good,
          'Gate-Sequence': sequence,
        }),
      ),
    ];
    for (const headers of single) {
      const response = await call(service, '/v1/audit/decisions', {
        key: service.key,
        body: decisionEvent(),
        headers,
      });
      expect(response.status, JSON.stringify(headers)).to.equal(202);
    }
    const emitter = emitterOf(service, 'decisions', good);
    for (const sequence of [
      '1',
      '1-3',
      '2-1',
      '1-',
      '-2',
      '1,',
      '1,2,3',
      '1-2-3',
      '1 - 2',
      '0-1',
      '1-1000000',
      'x-y',
    ])
      expect((await emitter.batch({ sequence, dropped: 0 }, [{}, {}])).status, sequence).to.equal(202);

    expect(await completenessOf(service)).to.deep.equal(NOTHING);
    expect((await readDecisions(service)).total).to.equal(single.length + 24);
  });

  it('without a valid Gate-Dropped a number counts and explains nothing', async () => {
    const service = await sharedService();
    const emitter = emitterOf(service);
    await emitter.send({ sequence: 3 });
    await emitter.send({ sequence: 5, dropped: '-3' });
    await emitter.send({ sequence: 6, dropped: 'x' });
    await emitter.send({ sequence: 8, dropped: 2 });

    expect((await gapsOf(service)).map(sizes)).to.deep.equal([
      [7, 7, 1, 0],
      [4, 4, 0, 1],
      [1, 2, 0, 2],
    ]);
  });

  it('an upper-case emitter is the same one, and re-posts change nothing, whatever they report', async () => {
    const service = await sharedService();
    const id = randomUUID();
    const event_id = randomUUID();
    await emitterOf(service, 'decisions', id.toUpperCase()).send({ sequence: 1, dropped: 0 }, { event_id });
    await emitterOf(service, 'decisions', id).send({ sequence: 3, dropped: 1 });
    const before = await completenessOf(service);
    await emitterOf(service, 'decisions', id).send({ sequence: 2, dropped: 0 }, { event_id });
    await emitterOf(service).send({ sequence: 9, dropped: 0 }, { event_id });

    expect(before).to.include({ emitters: 1, emitted: 3, received: 2, dropped: 1 });
    expect(await completenessOf(service)).to.deep.equal(before);
  });

  it('a number that two records have counts once', async () => {
    const service = await sharedService();
    const emitter = emitterOf(service);
    for (const sequence of [1, 1, 4, 4]) await emitter.send({ sequence, dropped: 0 });

    expect(await completenessOf(service)).to.include({ emitted: 4, received: 2, missing: 2 });
    expect((await gapsOf(service)).map(sizes)).to.deep.equal([[2, 3, 0, 2]]);
  });

  it('a gap belongs to the window that holds its later neighbour', async () => {
    const service = await sharedService();
    const emitter = emitterOf(service);
    const at = (days: number) => ({ occurred_at: timeFromNow(-days * DAY_MS) });
    await emitter.send({ sequence: 2, dropped: 1 }, at(40));
    await emitter.send({ sequence: 5, dropped: 2 }, at(10));
    await emitter.send({ sequence: 7, dropped: 3 }, at(3));

    expect(await completenessOf(service)).to.deep.equal(NOTHING);
    expect(await completenessOf(service, { window: '7d' })).to.include({
      emitters: 1,
      emitted: 2,
      received: 1,
      dropped: 1,
      missing: 0,
    });
    expect(await completenessOf(service, { window: '30d' })).to.include({
      emitted: 5,
      received: 2,
      dropped: 2,
      missing: 1,
    });
    expect(await completenessOf(service, { window: '90d' })).to.include({
      emitted: 7,
      received: 3,
      dropped: 3,
      missing: 1,
    });
    expect((await gapsOf(service, { window: '30d' })).map(sizes)).to.deep.equal([
      [6, 6, 1, 0],
      [3, 4, 1, 1],
    ]);
  });

  it('counts decisions and usage together; the summary counts decisions only', async () => {
    const service = await sharedService();
    const id = randomUUID();
    const usage = emitterOf(service, 'llm_invocations', id);
    await usage.send({ sequence: 2, dropped: 1 });
    await usage.close({ emitted: 3 });
    await emitterOf(service, 'decisions', id).send({ sequence: 2, dropped: 0 });

    expect(await completenessOf(service)).to.deep.equal({
      ...NOTHING,
      emitters: 2,
      emitted: 5,
      received: 2,
      dropped: 1,
      missing: 2,
      percent: 40,
    });
    const { completeness } = (await readSummary(service)) as unknown as { completeness: unknown };
    expect(completeness).to.include({ emitters: 1, emitted: 2, received: 1, missing: 1 });
    const streams = (await gapsOf(service)).map(({ stream }) => stream);
    expect(streams).to.have.members(['decisions', 'llm_invocations', 'llm_invocations']);
  });

  it('truncates the percentage', async () => {
    const service = await sharedService();
    const emitter = emitterOf(service);
    await emitter.batch(
      { sequence: '1-299', dropped: 0 },
      Array.from({ length: 299 }, () => ({})),
    );
    await emitter.send({ sequence: 301, dropped: 0 });

    // 300 of 301 are 99.667… %.
    expect(await completenessOf(service)).to.include({ received: 300, missing: 1, percent: 99.66 });
  });

  it('lists gaps page by page, each once', async () => {
    const service = await sharedService();
    for (const stream of ['decisions', 'llm_invocations'] as const) {
      const emitter = emitterOf(service, stream);
      await emitter.batch({ sequence: '2,4,6,8', dropped: 4 }, [{}, {}, {}, {}]);
      await emitter.close({ emitted: 9, dropped: 5 });
    }
    const all = await gapsOf(service);
    const paged: GapItem[] = [];
    for (let query: Record<string, string> | undefined = { limit: '3' }; query !== undefined;) {
      const { items, next_cursor }: GapPage = await askJson<GapPage>(service, 'gaps', { query });
      paged.push(...items);
      expect(items.length).to.be.within(1, 3);
      query = next_cursor === null ? undefined : { limit: '3', cursor: next_cursor };
    }

    expect(all).to.have.length(10);
    expect(paged).to.deep.equal(all);
    const times = all.map(({ before }) => before);
    expect(times).to.deep.equal(times.toSorted().toReversed());
  });

  it('reports what is wrong with a query', async () => {
    const service = await sharedService();
    const code = (endpoint: string, query: Record<string, string>) => refusal(service, endpoint, { query });

    expect(await code('completeness', { window: '1h' })).to.deep.equal([422, 'window_invalid']);
    expect(await code('gaps', { window: '' })).to.deep.equal([422, 'window_invalid']);
    for (const limit of ['0', '501', 'x', ''])
      expect(await code('gaps', { limit })).to.deep.equal([422, 'query_invalid']);
    for (const cursor of ['', 'x', 'djEgMA'])
      expect(await code('gaps', { cursor })).to.deep.equal([422, 'query_invalid']);
  });

  it('a close report needs a UUID, whole numbers and a key that may write', async () => {
    const service = await sharedService();
    const id = randomUUID();
    const body = { stream: 'decisions', emitted: 1, dropped: 0, failed: 0 };
    const send = async (path: string, more: object = {}, key = service.key) => {
      const response = await call(service, `/v1/audit/emitters/${path}/close`, {
        key,
        body: { ...body, ...more },
      });
      return response.status;
    };
    const { key: narrowed } = await issue(service, service.owner, { agents: ['other'] });
    const { key: reader } = await issue(service, service.owner, { scope: 'read_audit' });

    expect(await send('no-uuid')).to.equal(404);
    expect(await send('00000000-0000-0000-0000-000000000000')).to.equal(404);
    for (const more of [
      { stream: 'x' },
      { emitted: -1 },
      { emitted: 1.5 },
      { dropped: '1' },
      { failed: null },
      { emitted: 2 ** 53 },
    ])
      expect(await send(id, more), JSON.stringify(more)).to.equal(422);
    expect(await send(id, {}, reader)).to.equal(403);
    expect(await completenessOf(service)).to.deep.equal(NOTHING);
    expect(await send(id.toUpperCase(), {}, narrowed)).to.equal(202);
    expect(await completenessOf(service)).to.include({ emitters: 1, missing: 1 });
  });
});
