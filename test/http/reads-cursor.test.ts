import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { sendDecision, timeFromNow } from '../support/audit.ts';
import { sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { ask, askJson, type CursorPage, type Problem } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';
import { HOUR_MS } from '../../server/durations.ts';

const COUNT = 15;

describe('paging by cursor', () => {
  const service = useSharedService();
  let newestFirst: string[];
  before(async () => {
    // Three at the same instant, over two days: ties go by event_id as text.
    const events = Array.from({ length: COUNT }, (_, index) =>
      decisionEvent({
        occurred_at: timeFromNow(-Math.floor(index / 3) * 10 * HOUR_MS),
        agent_name: index % 2 === 0 ? 'even' : 'odd',
      }),
    );
    await sendBatch(service, events);
    newestFirst = events
      .map(({ event_id, occurred_at }) => `${String(occurred_at)} ${String(event_id)}`)
      .sort()
      .toReversed()
      .map((text) => text.slice(25));
  });

  async function walk(query: Record<string, string>): Promise<{ ids: string[]; pages: number }> {
    const ids: string[] = [];
    let cursor: string | null = null;
    for (let pages = 1; ; pages += 1) {
      const page: CursorPage = await askJson<CursorPage>(service, 'decisions', {
        query: { window: '7d', ...query, ...(cursor === null ? {} : { cursor }) },
      });
      ids.push(...page.items.map(({ event_id }) => String(event_id)));
      cursor = page.next_cursor;
      if (cursor === null) return { ids, pages };
    }
  }

  it('reaches every record once, in the order of the list, and ends with null', async () => {
    for (const limit of [1, 2, 3, 7, COUNT - 1, COUNT, COUNT + 1, 500]) {
      const { ids, pages } = await walk({ limit: String(limit) });

      expect(ids, `limit ${limit}`).to.deep.equal(newestFirst);
      expect(pages).to.equal(Math.max(1, Math.ceil(COUNT / limit)));
    }
  });

  it('keeps the filters and the total', async () => {
    const first = await askJson<CursorPage>(service, 'decisions', {
      query: { window: '7d', limit: '5', agent: 'odd' },
    });
    const second = await askJson<CursorPage>(service, 'decisions', {
      query: { window: '7d', limit: '5', agent: 'odd', cursor: String(first.next_cursor) },
    });

    expect([first.total, second.total, second.offset]).to.deep.equal([7, 7, 0]);
    expect(second.items.every((item) => item['agent_name'] === 'odd')).to.equal(true);
    expect((await walk({ limit: '5', agent: 'odd' })).ids.length).to.equal(7);
  });

  it('continues at its position when newer records arrive', async () => {
    const projectPage = await askJson<CursorPage>(service, 'decisions', {
      query: { window: '7d', limit: '5' },
    });
    await sendDecision(service, decisionEvent({ occurred_at: timeFromNow(60_000), agent_name: 'late' }));

    const next = await askJson<CursorPage>(service, 'decisions', {
      query: { window: '7d', limit: '5', cursor: String(projectPage.next_cursor) },
    });

    const ids = next.items.map(({ event_id }) => event_id);
    expect(ids).to.deep.equal(newestFirst.slice(5, 10));
    newestFirst = (await walk({})).ids;
  });

  it('counts an offset from the cursor', async () => {
    const first = await askJson<CursorPage>(service, 'decisions', { query: { window: '7d', limit: '4' } });
    const cursor = String(first.next_cursor);

    const page = await askJson<CursorPage>(service, 'decisions', {
      query: { window: '7d', limit: '4', offset: '3', cursor },
    });

    expect(page.items.map(({ event_id }) => event_id)).to.deep.equal(newestFirst.slice(7, 11));
  });

  it('is null when there is one page', async () => {
    const { next_cursor, items, total } = await askJson<CursorPage>(service, 'decisions', {
      projectId: randomUUID(),
    });

    expect({ next_cursor, items, total }).to.deep.equal({ next_cursor: null, items: [], total: 0 });
  });

  it('returns 422 for a cursor that no answer gave', async () => {
    const { next_cursor } = await askJson<CursorPage>(service, 'decisions', {
      query: { window: '7d', limit: '1' },
    });
    const good = String(next_cursor);
    const base64 = (text: string) => Buffer.from(text).toString('base64url');
    const bad = [
      '',
      ' ',
      'abc',
      `${good}=`,
      `${good}A`,
      good.slice(1),
      good.slice(0, -1),
      base64(''),
      base64('{}'),
      base64(`v1 99999999999999 ${randomUUID()}`),
      base64(`v1 -99999999999999 ${randomUUID()}`),
      base64(`v1 01 ${randomUUID()}`),
      base64(`v1 1 ${randomUUID().toUpperCase()}A`),
      base64(`v2 1 ${randomUUID()}`),
      base64(`v1 1 ${randomUUID()}\n`),
      base64("v1 1 ' OR 1=1 --"),
      '\0',
      'é'.repeat(1000),
    ];
    for (const cursor of bad) {
      const { status, text } = await ask(service, 'decisions', { query: { cursor } });
      const { code, errors } = JSON.parse(text) as Problem;
      expect([status, code, errors?.[0]?.path], JSON.stringify(cursor)).to.deep.equal([
        422,
        'query_invalid',
        'cursor',
      ]);
    }
  });
});
