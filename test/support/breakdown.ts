import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { askJson, refusal } from './reads.ts';
import type { SharedService } from './shared-service.ts';
import { MINUTE_MS } from '../../server/durations.ts';

type Breakdown<Sums> = {
  project_id: string;
  window: string | null;
  from: string;
  to: string;
  by: string;
  items: ({ value: string; first: string; last: string } & Sums)[];
  others: ({ entries: number } & Sums) | null;
};

const baseMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 3 * 60 * MINUTE_MS;

/** Times 20 minutes apart in the last three hours. */
export function timeOf(index: number): string {
  return new Date(baseMs + index * 20 * MINUTE_MS).toISOString();
}

/** Reads one of the breakdowns, and has the tests that both pass. `nothing` has the sums of no event. */
export function breakdownAt<Sums extends Record<string, number>>(
  service: SharedService,
  endpoint: string,
  nothing: Sums,
) {
  const breakdown = (query: Record<string, string> | string, projectId?: string) =>
    askJson<Breakdown<Sums>>(service, endpoint, projectId === undefined ? { query } : { query, projectId });
  return {
    breakdown,
    row: (value: string, sums: Partial<Sums>, [first, last]: [number, number]) => ({
      value,
      ...nothing,
      ...sums,
      first: timeOf(first),
      last: timeOf(last),
    }),
    /** `valuesOf`: the expected values of each dimension, in order. */
    addsUp: (valuesOf: Record<string, string[]>, readTotals: () => Promise<Sums>) => {
      for (const [by, values] of Object.entries(valuesOf))
        it(`by ${by} adds up to the totals, including what the list leaves out`, async () => {
          const totals = await readTotals();
          for (const limit of [1, 2, 1000]) {
            const { items, others } = await breakdown({ by, limit: String(limit) });
            expect(items.map(({ value }) => value)).to.deep.equal(values.slice(0, limit));
            expect(others?.entries ?? 0).to.equal(Math.max(0, values.length - limit));
            for (const key of Object.keys(nothing)) {
              const sum = items.reduce((all, item) => all + Number(item[key]), others?.[key] ?? 0);
              expect(sum, `${key} with limit ${limit}`).to.be.closeTo(Number(totals[key]), 1e-12);
            }
          }
        });
    },
    /** `send` records an event of the agent `many` with the sums `one`. */
    hasBounds: (send: (session_id: string) => Promise<unknown>, one: Sums) => {
      it('lists 50 values when no limit is given', async () => {
        const names = Array.from({ length: 51 }, (_, index) => `session-${String(index).padStart(2, '0')}`);
        await Promise.all(names.map(send));
        const { items, others } = await breakdown({ by: 'session_id', agent: 'many' });

        expect(items.map(({ value }) => value)).to.deep.equal(names.slice(0, 50));
        expect(others).to.deep.equal({ entries: 1, ...one });
      });

      it('of an unknown project is empty', async () => {
        const { items, others } = await breakdown({ by: 'agent' }, randomUUID());
        expect({ items, others }).to.deep.equal({ items: [], others: null });
      });
    },
    refuses: (queries: string[]) => {
      for (const query of queries)
        it(`with "${query}" is 422`, async () => {
          expect(await refusal(service, endpoint, { query })).to.deep.equal([422, 'query_invalid']);
        });
    },
  };
}
