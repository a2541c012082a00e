import { expect } from 'chai';
import { offerText } from '../../../server/log/add-checkpoint.ts';
import { isDue } from '../../../server/log/witnesses.ts';
import { SECOND_MS } from '../../../server/durations.ts';

describe('the offers to witnesses', () => {
  it('have the body of C2SP tlog-witness', () => {
    const proof = [new Uint8Array(32), new Uint8Array(32).fill(1)];

    expect(offerText({ oldSize: 20, proof, checkpoint: 'o\n21\nroot\n\n— o sig\n' })).to.equal(
      'old 20\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\nAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\n\no\n21\nroot\n\n— o sig\n',
    );
    expect(offerText({ oldSize: 0, proof: [], checkpoint: 'c' })).to.equal('old 0\n\nc');
  });

  it('come when a burst has ended or lasts five seconds, and at most once a minute', () => {
    const nowMs = 1_000_000;
    const due = (grownSecondsAgo: number, isQuiet: boolean, offeredSecondsAgo: number) =>
      isDue(
        { sinceMs: nowMs - grownSecondsAgo * SECOND_MS, isQuiet },
        nowMs - offeredSecondsAgo * SECOND_MS,
        nowMs,
      );

    expect(due(0, true, Infinity)).to.equal(true);
    expect(due(4, false, Infinity)).to.equal(false);
    expect(due(5, false, Infinity)).to.equal(true);
    expect(due(30, true, 59)).to.equal(false);
    expect(due(30, true, 60)).to.equal(true);
  });
});
