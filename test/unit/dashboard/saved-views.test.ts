import { expect } from 'chai';
import { savedViews } from '../../../server/dashboard/src/pages/decisions/saved-views.ts';

describe('the views that a browser kept', () => {
  it('are read again, without what is none', () => {
    const view = { name: 'Denials', query: '?outcome=deny' };
    const kept = [view, { name: 'x' }, null, 7, { name: 'elsewhere', query: '//example.com' }];
    expect(savedViews(JSON.stringify(kept))).to.deep.equal([view]);
    expect([undefined, '', '{}', 'no JSON'].map(savedViews)).to.deep.equal([[], [], [], []]);
  });
});
