import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonOf } from '../support/accounts.ts';
import { checkDraft } from '../support/agents.ts';
import { outcomeOf } from '../support/audit.ts';
import { useSharedService } from '../support/shared-service.ts';

// In a separate file that runs alone: it keeps the processors busy and measures how long an answer takes.

describe('a check that takes too long', () => {
  const service = useSharedService();

  it('delays no other request and ends with 503 overloaded', async () => {
    let isOver = false;
    const endless = [1, 2, 3].map(() => checkDraft(service, 'any', draftThatTakesMinutes()));
    const ended = Promise.all(endless.map(async (answer) => outcomeOf(await answer))).finally(
      () => (isOver = true),
    );
    const waitsMs: number[] = [];
    // The first policies are read and compiled at the same time.
    await sleep(1_000);
    while (!isOver) {
      const startMs = performance.now();
      expect((await fetch(`${service.url}/healthz`)).status).to.equal(200);
      waitsMs.push(performance.now() - startMs);
      await sleep(50);
    }

    // One of them may be slow on a busy machine. Without a thread, each check would delay all others for a minute.
    waitsMs.sort((a, b) => a - b);
    expect(waitsMs[Math.floor(waitsMs.length / 2)]).to.be.below(200);
    expect(waitsMs.at(-1)).to.be.below(1_000);
    expect(await ended).to.deep.equal([1, 2, 3].map(() => ({ status: 503, code: 'overloaded' })));
  });

  it('ends at once when its caller disconnects, and frees its place', async () => {
    const before = service.output().length;
    const leaving = new AbortController();
    const left = [1, 2].map(() =>
      checkDraft(service, 'any', draftThatTakesMinutes(), leaving.signal).then(
        () => 'answered',
        () => 'left',
      ),
    );
    await sleep(2_000);
    leaving.abort();
    expect(await Promise.all(left)).to.deep.equal(['left', 'left']);
    const policy_yaml = 'version: 1\ntools: [t]\nroles: {"*": {allow: [t]}}\n';

    const answer = checkDraft(service, 'any', { policy_yaml, calls: [{ tool: 't' }] });

    expect(await jsonOf(answer)).to.deep.include({
      decisions: [{ outcome: 'allow', reason: '', violations: [], hint: null }],
    });
    expect(service.output().slice(before)).not.to.match(/"level":[56]0/);
  });
});

/** 1,920 tests, each of which looks at every character of 250 KiB, four times. */
function draftThatTakesMinutes(): unknown {
  const tests = Array.from({ length: 240 }, () => '{arg: a, like: "*ab*"}').join(', ');
  const rules = Array.from(
    { length: 8 },
    (_, index) => `  - {id: r${index}, effect: deny, reason: R, when: {any: [${tests}]}}\n`,
  );
  const policy_yaml = `version: 1\ntools: [t]\nroles: {"*": {allow: [t]}}\nrules:\n${rules.join('')}`;
  const call = { tool: 't', arguments: { a: 'a'.repeat(240 * 1024) } };
  return { policy_yaml, calls: [call, call, call, call] };
}
