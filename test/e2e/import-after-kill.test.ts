import { expect } from 'chai';
import { join } from 'node:path';
import { sendDecision } from '../support/audit.ts';
import { createServiceClock } from '../support/clock.ts';
import { decisionEvent } from '../support/events.ts';
import { gate } from '../support/gate.ts';
import { readMetrics } from '../support/metrics.ts';
import { startTestService, storeDirectory, temporaryDirectory } from '../support/service.ts';

const TWO_HOURS_MS = 2 * 3_600_000;

describe('gate import into the store of a service that was killed', () => {
  it('keeps the identities that the kill left out: a re-post of the last record creates no second one', async () => {
    const dataDir = await storeDirectory();
    const event = decisionEvent({ outcome: 'allow' });
    const killed = await startTestService({ dataDir });
    expect((await sendDecision(killed, event)).status).to.equal(202);
    // Within the second after which its identity would have been copied.
    await killed.kill();
    const clock = createServiceClock();
    clock.passMs(TWO_HOURS_MS);
    const later = await startTestService({ env: clock.env });
    expect((await sendDecision(later, decisionEvent())).status).to.equal(202);
    await later.stop();
    const directory = join(temporaryDirectory(), 'export');
    await gate(later.dataDir, 'export', '--to', directory);
    await gate(dataDir, 'import', '--from', directory);

    const again = await startTestService({ dataDir, env: clock.env });
    const answer = await sendDecision(again, { ...event, outcome: 'deny' });

    expect(answer.status).to.equal(202);
    const result = (name: string) => `gate_ingest_decisions_total{result="${name}"}`;
    const metrics = await readMetrics(again);
    expect(['duplicate', 'accepted'].map((name) => metrics.value(result(name)))).to.deep.equal([1, 0]);
    await again.stop();
  });
});
