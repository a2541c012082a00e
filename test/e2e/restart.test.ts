import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { accepted, DAY_MS, outcomeOf, sendDecision, tally, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { runInShell } from '../support/processes.ts';
import { startTestService, temporaryDirectory, type TestService } from '../support/service.ts';
import { everythingOf, otherVersionsOf } from '../support/snapshot.ts';

async function keySetOf({ url }: TestService): Promise<unknown> {
  return (await fetch(`${url}/v1/.well-known/keys`)).json();
}

describe('across a restart', function () {
  this.timeout(60_000);

  for (const end of ['stop', 'kill'] as const) {
    it(`(${end}) the first write of an event_id has won, on the very next read, in every endpoint, and keys stay as they are`, async () => {
      const dataDir = temporaryDirectory();
      const first = await startTestService({ dataDir });
      const events = [0, 1, 40, 89].map((days) =>
        decisionEvent({ agent_name: `agent-${days}`, occurred_at: timeFromNow(-days * DAY_MS) }),
      );
      for (const event of events) await sendDecision(first, event);
      const before = await everythingOf(first, first.demo.project_id);
      const keys = await keySetOf(first);
      await first[end]();

      const second = await startTestService({ dataDir });
      expect([second.demo, await keySetOf(second)]).to.deep.equal([first.demo, keys]);
      expect(await everythingOf(second, second.demo.project_id)).to.deep.equal(before);
      for (const event of events) {
        const upper = { ...event, event_id: String(event['event_id']).toUpperCase() };
        const again = [event, upper, ...otherVersionsOf(event)].map((other) => sendDecision(second, other));
        expect(tally(await Promise.all(again))).to.deep.equal({ '202': again.length });
        expect(await everythingOf(second, second.demo.project_id)).to.deep.equal(before);
      }
      const fresh = await outcomeOf(await sendDecision(second, decisionEvent({ event_id: randomUUID() })));
      const after = await everythingOf(second, second.demo.project_id);
      await second.stop();

      expect(before.totals.total).to.equal(4);
      expect([fresh, after.totals.total]).to.deep.equal([accepted, 5]);
    });
  }
});

describe('the first start with GATE_DEMO=1', () => {
  it('prints a curl that records a decision and one that reads the summary, and both work as they are pasted', async () => {
    const service = await startTestService();
    const commands = service.output().matchAll(/^curl [\s\S]*?(?:"|')$/gm);

    const answers = [];
    for (const [command] of commands) answers.push(await runInShell(command));
    await service.stop();

    expect(answers).to.have.length(2);
    const [recorded, summary] = answers.map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(recorded).to.have.all.keys('event_id');
    expect(summary).to.deep.include({ totals: { total: 1, allow: 1, deny: 0, needs_approval: 0 } });
  });

  it('makes a demo of its own on an empty store, whatever another one left in demo.json', async () => {
    const dataDir = temporaryDirectory();
    const first = await startTestService({ dataDir });
    await first.stop();
    rmSync(join(dataDir, 'clickhouse'), { recursive: true });

    const second = await startTestService({ dataDir });
    const recorded = await outcomeOf(await sendDecision(second, decisionEvent()));
    await second.stop();

    expect(second.demo.project_id).not.to.equal(first.demo.project_id);
    expect(recorded).to.deep.equal(accepted);
    expect(second.output()).not.to.contain(first.demo.key);
  });
});
