import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditVerify } from '../../server/cli/audit/commands.ts';
import { sendDecision } from '../support/audit.ts';
import { startPair } from '../support/clickhouse-server/services.ts';
import { startClickHouse } from '../support/clickhouse-server/start.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { expectWholeLog, readWholeLog } from '../support/whole-log.ts';

/** After this time a service has its own records in the log, but has not looked for those of others. */
const OWN_MS = 3000;

describe('an event of a service that is killed before it marks the identity, sent again to another', () => {
  it('is in the log with the row that a merge keeps', async () => {
    const server = await startClickHouse();
    const [one, two] = await startPair(server);
    const event = decisionEvent();
    const rows = `SELECT received_at FROM decisions WHERE event_id = '${String(event.event_id)}' ORDER BY received_at`;
    // Each has looked for identities that a crash left out, which writes to their table.
    for (const service of [one, two])
      expect((await sendDecision(service, decisionEvent())).status).to.equal(202);

    await server.fail({ on: 'insert', table: 'event_identities', does: 'fail', with: 'TOO_MANY_PARTS' });
    expect((await sendDecision(one, event)).status).to.equal(202);
    // Immediately: five seconds later, the other service would have taken over the insert, with its mark.
    expect((await sendDecision(two, event)).status).to.equal(202);
    const written = await server.query(rows);
    await one.kill();
    await server.fail();
    await sleep(OWN_MS);
    await server.query('OPTIMIZE TABLE decisions FINAL');

    const log = await eventually(async () => {
      const now = await readWholeLog((sql) => server.query(sql));
      return now.waiting === 0 ? now : undefined;
    });
    expect(written).to.have.length(2);
    expect(await server.query(rows)).to.deep.equal(written.slice(0, 1));
    expectWholeLog(log);
    const { exitCode, text } = await auditVerify(one.project_id, { url: two.url });
    expect(exitCode, text).to.equal(0);
    await two.stop();
    await server.kill();
  });
});
