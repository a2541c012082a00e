import { mock } from 'node:test';
import { setImmediate as tick } from 'node:timers/promises';
import { expect } from 'chai';
import { NO_ACTOR } from '../../../server/access/access.ts';
import { createRecordReads } from '../../../server/activity/record-reads.ts';
import { KeyedMutex } from '../../../server/keyed-mutex.ts';
import { EXPORT_ENTRIES_MS_MIN, EXPORT_ENTRIES_WAITING_MAX } from '../../../server/limits.ts';
import { HOUR_MS } from '../../../server/durations.ts';
import { createBoundedStore } from '../../../server/store/bounded-store.ts';

describe('the entries of exports', () => {
  /** Every insert ends when `finish` is called. */
  function open() {
    const inserts: { rows: number; atMs: number }[] = [];
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const connection = {
      query: async <Row>() => [{ project_id: 'p' }] as Row[],
      insert: ({ lines }: { lines: string[] }) => {
        inserts.push({ rows: lines.length, atMs: performance.now() });
        return promise;
      },
    };
    const store = createBoundedStore(connection, async () => undefined);
    const reads = createRecordReads({ store, mutex: new KeyedMutex(store), readAuth: 'open', now: Date.now });
    const exported = () => reads.exported({}, { projectId: 'p', actor: NO_ACTOR, address: '' });
    return { inserts, finish, exported };
  }

  it('are written at once, and later ones together after a delay', async () => {
    const { inserts, finish, exported } = open();
    const first = exported();
    await tick();
    const others = Array.from({ length: 200 }, exported);
    finish();

    await Promise.all([first, ...others]);

    expect(inserts.map(({ rows }) => rows)).to.deep.equal([1, 200]);
    const [one, two] = inserts.map(({ atMs }) => atMs);
    expect((two ?? 0) - (one ?? 0)).to.be.at.least(EXPORT_ENTRIES_MS_MIN - 10);
  });

  it('are written even after the clock was set back', async () => {
    const { inserts, finish, exported } = open();
    finish();
    await exported();
    const clock = mock.method(Date, 'now', () => performance.timeOrigin - HOUR_MS);
    await exported().finally(() => clock.mock.restore());

    expect(inserts.map(({ rows }) => rows)).to.deep.equal([1, 1]);
  });

  it(`wait for an insert up to ${EXPORT_ENTRIES_WAITING_MAX} at a time; more are refused`, async () => {
    const { inserts, finish, exported } = open();
    const codes: string[] = [];
    const all: Promise<void>[] = [];
    for (let n = 0; n < EXPORT_ENTRIES_WAITING_MAX + 3; n += 1) {
      all.push(exported().catch((error: { code: string }) => void codes.push(error.code)));
      if (n % 100 === 0) await tick();
    }
    await tick();
    finish();
    await Promise.all(all);

    expect(inserts.map(({ rows }) => rows)).to.deep.equal([1, EXPORT_ENTRIES_WAITING_MAX]);
    expect(codes).to.deep.equal(['overloaded', 'overloaded']);
  });
});
