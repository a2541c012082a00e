import { expect } from 'chai';
import { READ_WAIT_MS_MAX } from '../../server/limits.ts';
import { ask } from '../support/reads.ts';
import { randomUUID } from 'node:crypto';
import { DAY_MS, type Page, readDecisions, sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { type RunningService } from '../support/service.ts';
import { sharedService } from '../support/shared-service.ts';

const HOUR_MS = 3_600_000;

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
  let service: RunningService;
  const atSame = timeFromNow(-HOUR_MS);
  // ClickHouse's own order of UUIDs starts with their second half; as text it is the other way round.
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
    service = await sharedService();
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

  it('come newest first, and by event_id as text where the time is the same', async () => {
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
    // On a slow machine some may wait in vain and come back, but there is a place to wait for every one of them.
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

describe('a bad query', () => {
  let service: RunningService;
  before(async () => {
    service = await sharedService();
  });

  async function ask(endpoint: string, query: string): Promise<unknown> {
    const response = await fetch(
      `${service.url}/v1/projects/${service.project_id}/audit/${endpoint}?${query}`,
    );
    const { code } = (await response.json()) as { code?: string };
    return [response.status, code];
  }

  it('window not one of 24h, 7d, 30d, 90d is 422', async () => {
    for (const endpoint of ['summary', 'decisions']) {
      for (const window of [
        '',
        '24H',
        '1h',
        '90',
        '91d',
        ' 7d',
        '24h,7d',
        '__proto__',
        'constructor',
        '%00',
      ]) {
        expect(await ask(endpoint, `window=${window}`), window).to.deep.equal([422, 'window_invalid']);
      }
    }
  });

  it('a repeated parameter is 422', async () => {
    for (const query of ['window=7d&window=7d', 'window[]=7d&window[]=24h', 'window=7d&window=']) {
      const [status] = (await ask('summary', query)) as [number];
      // In the simple query syntax `window[]` is another, unknown name.
      expect(status, query).to.equal(query.includes('[]') ? 200 : 422);
    }
    for (const name of ['agent', 'role', 'outcome', 'tool', 'user_id', 'session_id', 'limit', 'offset']) {
      expect(await ask('decisions', `${name}=1&${name}=1`), name).to.deep.equal([422, 'query_invalid']);
    }
  });

  it('limit outside 1 to 500 or offset outside 0 to 10,000 is 422', async () => {
    const wrong = ['', '-1', '1.5', '1e2', '0x10', 'abc', '+1', ' 1', '1 ', '9'.repeat(30), '١', 'NaN'];
    for (const limit of ['0', '501', ...wrong])
      expect(await ask('decisions', `limit=${encodeURIComponent(limit)}`), limit).to.deep.equal([
        422,
        'query_invalid',
      ]);
    for (const offset of ['10001', ...wrong])
      expect(await ask('decisions', `offset=${encodeURIComponent(offset)}`), offset).to.deep.equal([
        422,
        'query_invalid',
      ]);
  });

  it('an unknown or empty outcome is 422', async () => {
    for (const outcome of ['', 'Allow', 'all', '1', 'allow,deny'])
      expect(await ask('decisions', `outcome=${outcome}`)).to.deep.equal([422, 'query_invalid']);
  });
});
