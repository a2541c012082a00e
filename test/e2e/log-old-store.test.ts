import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { verifyRecordProof } from '../../client/proof/index.ts';
import { auditVerify } from '../../server/cli/audit/commands.ts';
import { ONE_NODE } from '../../server/store/engines.ts';
import { readMigrations } from '../../server/store/sql.ts';
import { sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { checkpointFrom, logKey, proofOf } from '../support/log.ts';
import { startTestService, temporaryDirectory, type TestService } from '../support/service.ts';
import { tamper } from '../tamper/service.ts';
import { DAY_MS } from '../../server/durations.ts';

/** The last migration of Gatehouse without a log. */
const OLD_VERSION = 29;
const PROJECT = 'old-project';
const AGES_DAYS = [0, 0, 1, 40, 89, 91];
const ALIVE = AGES_DAYS.filter((days) => days < 90).length;

/** A store with records as the last Gatehouse without a log left it. */
async function oldStore(ids: string[]): Promise<string> {
  const dataDir = temporaryDirectory();
  const migrations = readMigrations().filter(({ version }) => version <= OLD_VERSION);
  const rows = ids.map((id, at) => {
    const occurred = timeFromNow(-(AGES_DAYS[at] ?? 0) * DAY_MS);
    const text = `'a/b "${at}" \\\\ \\n é'`;
    return `('${PROJECT}', '${id}', parseDateTime64BestEffort('${occurred}', 3, 'UTC'), now64(3, 'UTC') - INTERVAL 1 HOUR - ${at}, 'agent', 'tool', 'deny', ${text}, '{"n":1e400,"s":"/"}', ${at + 1})`;
  });
  await tamper(dataDir, [
    "CREATE TABLE schema_migrations (version UInt32, name String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3)) ENGINE = ReplacingMergeTree ORDER BY version",
    ...migrations.flatMap(({ statements }) => statements.flatMap(ONE_NODE.render)),
    `INSERT INTO schema_migrations (version, name) VALUES ${migrations.map(({ version, name }) => `(${version}, '${name}')`).join()}`,
    `INSERT INTO decisions (project_id, event_id, occurred_at, received_at, agent_name, tool_name, outcome, reason, arguments, version) VALUES ${rows.join()}`,
    "INSERT INTO event_identities (stream, project_id, event_id, occurred_at, received_at) SELECT 'decisions', project_id, event_id, occurred_at, received_at FROM decisions",
  ]);
  return dataDir;
}

describe('records from before the log', () => {
  const ids = AGES_DAYS.map(() => randomUUID());
  let dataDir: string;
  let service: TestService;
  const old = () => ({ ...service, project_id: PROJECT });
  before(async () => {
    dataDir = await oldStore(ids);
    service = await startTestService({ dataDir });
  });
  after(() => service.stop());

  it('are in a store whose migration is reported by the first start', () => {
    const newest = readMigrations().at(-1)?.version;

    expect(service.output()).to.include(`Migrating the schema from version ${OLD_VERSION} to ${newest}`);
  });

  it('enter it once at the first start, as they are, unless they have expired; their salt is zero', async () => {
    await checkpointFrom(old(), ALIVE);
    const key = await logKey(old());
    const proofs = await Promise.all(ids.slice(0, ALIVE).map((id) => proofOf(old(), id)));

    for (const proof of proofs) {
      expect(verifyRecordProof(proof, key)).to.deep.equal({ entry: true, inclusion: true, checkpoint: true });
      expect(Buffer.from(proof.salt, 'base64')).to.deep.equal(Buffer.alloc(16));
    }
    expect(proofs.map(({ index }) => index)).to.have.members([...Array(ALIVE).keys()]);
  });

  it('are verified as all others, and do not enter again at the next start', async () => {
    const directory = temporaryDirectory();
    const verify = () => auditVerify(PROJECT, { url: service.url, state: `${directory}/state.json` });
    const first = await verify();
    await service.stop();
    service = await startTestService({ dataDir });
    const event = decisionEvent();
    await sendDecision(service, event);
    await proofOf(service, String(event['event_id']));
    const second = await verify();

    for (const { exitCode, text, data } of [first, second]) {
      expect(exitCode, text).to.equal(0);
      expect(data).to.deep.include({ checked: ALIVE, tree_size: ALIVE, altered: 0, missing: 0, added: 0 });
    }
  });

  it('enter it even if an older service wrote them after their hour was complete', async () => {
    const late = randomUUID();
    await service.stop();
    await tamper(dataDir, [
      `INSERT INTO decisions (project_id, event_id, occurred_at, received_at, agent_name, tool_name, outcome, version) SELECT project_id, '${late}', occurred_at, now64(3, 'UTC'), agent_name, tool_name, outcome, version FROM decisions WHERE event_id = '${ids[2]}'`,
    ]);
    service = await startTestService({ dataDir });
    const proof = await proofOf(old(), late);

    expect(proof.index).to.equal(ALIVE);
  });
});
