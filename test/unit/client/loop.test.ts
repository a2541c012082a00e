import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { within } from '../../../client/audit/loop.ts';

describe('a wait with a deadline', () => {
  for (const blockedMs of [150, 500])
    it(`sees what arrived while the loop was blocked for ${blockedMs} ms, beyond the deadline`, async () => {
      const child = spawn('echo', ['answer']);
      let isAnswered = false;
      const answered = once(child.stdout, 'data').then(() => void (isAnswered = true));
      const ended = within(answered, 100);
      spawnSync('sleep', [String(blockedMs / 1_000)]);
      await ended;

      expect(isAnswered).to.equal(true);
    });

  it('ends at the deadline', async () => {
    const startedAtMs = performance.now();
    await within(new Promise(() => undefined), 20);

    expect(performance.now() - startedAtMs).to.be.within(19, 1_500);
  });
});
