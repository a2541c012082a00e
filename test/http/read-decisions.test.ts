import { expect } from 'chai';
import { READ_WAIT_MS_MAX } from '../../server/limits.ts';
import { ask } from '../support/reads.ts';
import { randomUUID } from 'node:crypto';
import { type Page, readDecisions, sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS, HOUR_MS } from '../../server/durations.ts';

type Given = {
  agent_name?: string;
  role?: string;
  tool_name?: string;
  outcome?: string;
  user_id?: string;
  session_id?: string;
  occurred_at?: string;
  event_id?: string;
};

describe('the decisions', () => {
  const service = useSharedService();
  const atSame = timeFromNow(-HOUR_MS);
  // ClickHouse's own order of UUIDs starts with their second half; as text, the order is different.
  const ids = [
    '1fffffff-0000-4000-8000-000000000000',
    '20000000-0000-4000-b000-000000000000',
    '30000000-0000-4000-9fff-000000000000',
  ];
  const given: Given[] = [
    {
      agent_name: 'x',
      role: '',
      outcome: 'deny',
      tool_name: 'read',
      user_id: 'u1',
      session_id: 's1',
      occurred_at: timeFromNow(0),
    },
    ...ids.map((event_id) => ({
      event_id,
      agent_name: 'y',
      role: 'admin',
      tool_name: 'read',
      user_id: 'u2',
      session_id: 's1',
      occurred_at: atSame,
    })),
    {
      agent_name: 'x',
      role: 'admin',
      outcome: 'needs_approval',
      tool_name: 'write',
      user_id: '',
      session_id: '',
      occurred_at: timeFromNow(-2 * HOUR_MS),
    },
    {
      agent_name: 'z',
      role: '(none)',
      tool_name: '%',
      user_id: 'u1',
      session_id: "s'1",
      occurred_at: timeFromNow(-3 * DAY_MS),
    },
  ];
  const newestFirst = [0, 3, 2, 1, 4, 5];
  before(async () => {
    for (const event of given) await sendDecision(service, decisionEvent(event));
  });

  /** Which of the given records these are, in the answer's order. */
  function indexesOf({ items }: Page): number[] {
    return items.map(({ occurred_at, event_id }) =>
      given.findIndex(
        (event) => event.occurred_at === occurred_at && (event.event_id ?? event_id) === event_id,
      ),
    );
  }

  it('are sorted newest first, then by event_id as text', async () => {
    const { items, ...page } = await readDecisions(service, { window: '7d' });

    expect(page).to.include({
      project_id: service.project_id,
      window: '7d',
      total: 6,
      limit: 50,
      offset: 0,
    });
    expect(indexesOf({ ...page, items })).to.deep.equal(newestFirst);
  });

  it('have the window 24h by default', async () => {
    const page = await readDecisions(service);

    expect([page.window, page.total]).to.deep.equal(['24h', 5]);
  });

  it('are answered to 64 callers at once', async () => {
    // On a slow machine some may time out and retry, but there is a place in the queue for every one of them.
    const totalOf = async (): Promise<number> => {
      const startMs = performance.now();
      const { status, text } = await ask(service, 'decisions', { query: { window: '7d' } });
      const hasWaited = performance.now() - startMs >= READ_WAIT_MS_MAX;
      if (status === 503 && hasWaited) return totalOf();
      return status === 200 ? (JSON.parse(text) as Page).total : status;
    };
    const totals = Array.from({ length: 64 }, totalOf);

    expect(await Promise.all(totals)).to.deep.equal(totals.map(() => 6));
  });

  it('are paged by limit and offset, with the total of all', async () => {
    for (const [limit, offset] of [
      [1, 0],
      [2, 1],
      [500, 0],
      [3, 4],
      [1, 6],
      [2, 10_000],
    ] as const) {
      const page = await readDecisions(service, {
        window: '7d',
        limit: String(limit),
        offset: String(offset),
      });

      expect([page.total, page.limit, page.offset]).to.deep.equal([6, limit, offset]);
      expect(indexesOf(page)).to.deep.equal(newestFirst.slice(offset, offset + limit));
    }
  });

  const filters: [Record<string, string>, number[]][] = [
    [{ agent: 'x' }, [0, 4]],
    [{ role: 'admin' }, [3, 2, 1, 4]],
    [{ role: '' }, [0]],
    [{ role: '(none)' }, [5]],
    [{ outcome: 'allow' }, [3, 2, 1, 5]],
    [{ outcome: 'deny' }, [0]],
    [{ outcome: 'needs_approval' }, [4]],
    [{ tool: 'read' }, [0, 3, 2, 1]],
    [{ tool: '%' }, [5]],
    [{ user_id: 'u1' }, [0, 5]],
    [{ session_id: 's1' }, [0, 3, 2, 1]],
    [{ session_id: "s'1" }, [5]],
    [{ agent: 'x', role: 'admin', outcome: 'needs_approval', tool: 'write' }, [4]],
    [{ agent: 'x', role: 'admin', outcome: 'deny' }, []],
    [{ agent: "x' OR '1'='1" }, []],
    [{ agent: 'X' }, []],
    [{ unknown: 'ignored', agent: 'z' }, [5]],
  ];
  for (const [filter, expected] of filters) {
    it(`are filtered by ${JSON.stringify(filter)}`, async () => {
      const page = await readDecisions(service, { window: '7d', ...filter });

      expect([page.total, indexesOf(page)]).to.deep.equal([expected.length, expected]);
    });
  }

  it('of an unknown project are none', async () => {
    const { items, total } = await readDecisions(service, {}, randomUUID());

    expect([items, total]).to.deep.equal([[], 0]);
  });
});
