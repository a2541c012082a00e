import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { type Page, sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { ask, askJson, refusal, type Timeseries } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';

describe('a search for a text', () => {
  const service = useSharedService();
  const RECORDS: { reason: string; arguments: object | null }[] = [
    { reason: 'Straße nach ÉTRETAT', arguments: null },
    { reason: '', arguments: { path: '/etc/Passwd', share: '100 %' } },
    { reason: 'a_b', arguments: { query: 'Ünïcode 😀 Ω' } },
    { reason: 'axb "quoted" back\\slash', arguments: { n: 9007199254740993n.toString() } },
    { reason: 'null', arguments: {} },
    { reason: 'ΟΔΟΣ ⓐ Ꭰ 𞤀 ა', arguments: null },
  ];
  before(async () => {
    for (const [index, record] of RECORDS.entries()) {
      const occurred_at = new Date(Date.now() - (60 - index) * 1000).toISOString();
      await sendDecision(service, decisionEvent({ ...record, occurred_at, role: String(index) }));
    }
  });

  const CASES: [string, number[]][] = [
    ['étretat', [0]],
    ['STRASSE', []],
    ['STRAßE', [0]],
    ['PASSWD', [1]],
    ['"PATH":', [1]],
    ['ünÏCODE', [2]],
    ['ω', [2]],
    ['😀', [2]],
    ['%', [1]],
    ['_', [2]],
    ['A_B', [2]],
    ['a.b', []],
    ['b', [2, 3]],
    ['\\', [3]],
    ['"QUOTED"', [3]],
    ["' OR 1=1 --", []],
    ['null', [4]],
    ['{}', [4]],
    [' ', [0, 1, 2, 3, 5]],
    ['οδος', [5]],
    ['οδοσ', [5]],
    [' Ⓐ ꭰ 𞤢 Ა', [5]],
    ['PA\u017F\u017Fwd', [1]],
    ['x'.repeat(200), []],
    ['😀'.repeat(200), []],
  ];
  for (const [q, selected] of CASES) {
    it(`${JSON.stringify(q.slice(0, 20))} finds it in reason and arguments, whatever the case`, async () => {
      const { items, total } = await askJson<Page>(service, 'decisions', { query: { q } });
      const { text } = await ask(service, 'decisions/export', { query: { q } });
      const { buckets } = await askJson<Timeseries>(service, 'timeseries', { query: { q } });
      const counted = buckets.reduce((sum, bucket) => sum + bucket.total, 0);

      expect(items.map(({ role }) => Number(role))).to.deep.equal(selected.toReversed());
      expect([total, text.split('\n').length - 1, counted]).to.deep.equal(Array(3).fill(selected.length));
    });
  }

  it('can be combined with filters, pages and cursors', async () => {
    const query = { q: 'B', limit: '1' };
    const first = await askJson<Page & { next_cursor: string }>(service, 'decisions', { query });
    const second = await askJson<Page>(service, 'decisions', {
      query: { ...query, cursor: first.next_cursor },
    });
    const other = await askJson<Page>(service, 'decisions', { query: { ...query, role: '2' } });

    const roles = [first, second, other].map(({ items, total }) => [items[0]?.role, total]);
    expect(roles).to.deep.equal([
      ['3', 2],
      ['2', 2],
      ['2', 1],
    ]);
  });

  it('in an unknown project finds nothing', async () => {
    const { total } = await askJson<Page>(service, 'decisions', {
      query: { q: 'a' },
      projectId: randomUUID(),
    });
    expect(total).to.equal(0);
  });

  for (const query of ['q=', `q=${'x'.repeat(201)}`, 'q=a&q=b', 'q=a%00'])
    it(`with ${query.slice(0, 10)} is 422`, async () => {
      for (const endpoint of ['decisions', 'decisions/export', 'timeseries'])
        expect(await refusal(service, endpoint, { query })).to.deep.equal([422, 'query_invalid']);
    });
});
