import { expect } from 'chai';
import { offerText } from '../../../server/log/add-checkpoint.ts';
import type { ProjectLog } from '../../../server/log/project-log.ts';
import { isDue, Witnesses } from '../../../server/log/witnesses.ts';
import { SECOND_MS } from '../../../server/durations.ts';
import { WITNESS_POLL_MS } from '../../../server/limits.ts';
import { createLogger } from '../../../server/logger.ts';
import type { BoundedStore } from '../../../server/store/bounded-store.ts';
import { sql } from '../../../server/store/sql.ts';
import { fakeTimeouts } from '../../support/fake-timeouts.ts';
import { startWitness } from '../../support/witness.ts';

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

  for (const [when, isBusy] of [
    ['right after one that had nothing to offer', false],
    ['during another one', true],
  ] as const)
    it(`come when a log has grown, also ${when}`, async () => {
      const witness = await startWitness('witness.example/one');
      let looks = 0;
      const offeredAt: number[] = [];
      const secondGrowth = Promise.withResolvers<void>();
      // The first growth is that before the start, which the witness has signed.
      const grown = () => {
        looks += 1;
        if (looks === 3) setImmediate(secondGrowth.resolve);
        return looks === 1 || looks === 3 ? [{ project_id: 'p', newest: String(looks) }] : [];
      };
      const query = async (text: string) => {
        if (text === sql('log_grown')) return grown();
        if (isBusy) await secondGrowth.promise;
        return [{ size: '1', at_ms: '0' }];
      };
      const log = {
        size: () => Promise.resolve(looks < 3 ? 1 : 2),
        signed: () => {
          offeredAt.push(looks);
          return Promise.reject(new Error('enough'));
        },
      };
      const witnesses = new Witnesses({
        witnesses: [{ url: new URL('http://127.0.0.1:9'), key: witness.key }],
        store: { query, append: () => Promise.resolve(), silentMs: () => 0 } as BoundedStore,
        logOf: () => log as unknown as ProjectLog,
        logger: createLogger('silent'),
        now: Date.now,
      });

      fakeTimeouts.enable();
      witnesses.start();
      while (looks < 6) {
        for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate);
        fakeTimeouts.tick(WITNESS_POLL_MS);
      }
      await witnesses.close();
      fakeTimeouts.reset();
      await witness.close();

      expect(offeredAt).to.deep.equal([4]);
    });
});
