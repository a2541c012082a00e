import { expect } from 'chai';
import type { ReplayResult } from '../../../server/dashboard/src/api/types.ts';
import { withOlder } from '../../../server/dashboard/src/pages/agents/replay-pages.ts';

function change(tool: string, count: number): ReplayResult['changes'][number] {
  return { tool, role: '', from: 'allow', to: 'deny', count, samples: [`${tool} ${count}`] };
}

function page(changes: ReplayResult['changes'], { version = 1, next = '' } = {}): ReplayResult {
  const changed = { changed: changes.reduce((sum, { count }) => sum + count, 0), changes };
  const counts = { examined: 100, replayed: 90, not_replayable: 10 };
  return { window: '7d', ...counts, ...changed, next_cursor: next, current: { version, ...changed } };
}

describe('a replay page by page', () => {
  it('sums up the changes of one kind, the most frequent first, and continues after the older page', () => {
    const sum = withOlder(page([change('a', 5)], { next: 'x' }), page([change('b', 8), change('a', 4)]));
    expect(sum).to.include({
      examined: 200,
      replayed: 180,
      not_replayable: 20,
      changed: 17,
      next_cursor: '',
    });
    expect(sum.changes.map(({ tool, count }) => [tool, count])).to.deep.equal([
      ['a', 9],
      ['b', 8],
    ]);
    expect(sum.changes[0]?.samples).to.deep.equal(['a 5']);
    expect(sum.current).to.deep.include({ version: 1, changed: 17 });
  });

  it('compares with no saved policy when another version was saved in between', () => {
    expect(withOlder(page([]), page([], { version: 2 })).current).to.equal(null);
  });
});
