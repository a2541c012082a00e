import { expect } from 'chai';
import { savedViews } from '../../../server/dashboard/src/pages/decisions/saved-views.ts';

describe('the views that a browser kept', () => {
  it('are read again, without invalid entries', () => {
    const view = { name: 'Denials', query: '?outcome=deny' };
    const own = { ...view, columns: 'time,tool' };
    const kept = [
      view,
      own,
      { ...view, columns: 7 },
      { name: 'x' },
      null,
      7,
      { name: 'elsewhere', query: '//example.com' },
    ];
    expect(savedViews(JSON.stringify(kept))).to.deep.equal([view, own]);
    expect([undefined, '', '{}', 'no JSON'].map(savedViews)).to.deep.equal([[], [], [], []]);
  });
});
