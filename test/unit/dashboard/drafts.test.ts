import { expect } from 'chai';
import { claimDrafts, draftKey, drafts } from '../../../server/dashboard/src/pages/agents/drafts.ts';

describe('drafts', () => {
  it('are those of the account that is signed in, also when it signs in again, and never those of another', () => {
    const key = draftKey('p', 'clerk', 'policy');
    claimDrafts('ann');
    drafts.set(key, 'version: 1');

    claimDrafts('ann');
    expect(drafts.get(key)).to.equal('version: 1');
    claimDrafts('bob');
    expect(drafts.get(key)).to.equal(undefined);
  });
});
