import { expect } from 'chai';
import { randomBytes, randomUUID } from 'node:crypto';
import { type ExportedPiece, LogImport } from '../../server/log/log-import.ts';
import { createLogStore } from '../../server/log/log-store.ts';
import { LogTables } from '../../server/log/log-tables.ts';
import { leafHashes, rootsOf256 } from '../../server/log/subtrees.ts';
import { createLogger } from '../../server/logger.ts';
import type { Store } from '../../server/store/store.ts';

const TIMES = { received_from: '2026-11-22 10:00:00.000', received_to: '2026-11-22 10:00:01.000' };

/** A log with this many entries. */
const newLog = (count: number) =>
  Array.from({ length: count }, () => randomBytes(32).toString('hex').toUpperCase());

/** Pieces of this many entries each, as an export has them. */
function piecesOf(project_id: string, log: string[], length: number): ExportedPiece[] {
  return Array.from({ length: Math.ceil(log.length / length) }, (_, at) => {
    const start = at * length;
    return { project_id, start, entries: log.slice(start, start + length).join(' '), ...TIMES };
  });
}

const faultOf = (work: Promise<unknown>) => work.then(() => 'none', String);

/** How the logs of an export enter a store. */
export function logImportSuite(store: () => Store): void {
  const newImport = () => new LogImport(store().log, createLogger('silent'));
  const logOf = async (projectId: string) => {
    const log = createLogStore(store().log);
    return (await log.entries(projectId, 0, await log.size(projectId))).toString('hex').toUpperCase();
  };

  it('extends logs from where they end, however they are divided into pieces, and adds nothing twice', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    const [log, other] = [newLog(700), newLog(3)];

    const first = await newImport().append(piecesOf(one, log.slice(0, 450), 300));
    const rest = newImport();
    const second = await rest.append([...piecesOf(one, log, 100), ...piecesOf(two, other, 2)]);
    const third = await newImport().append(piecesOf(one, log.slice(0, 100), 7));
    await rest.finish();

    expect([first, second, third]).to.deep.equal([450, 253, 0]);
    expect([await logOf(one), await logOf(two)]).to.deep.equal([log.join(''), other.join('')]);
    expect(await new LogTables(store().log).hashesOf(one, 1)).to.equal(2);
  });

  it('has the same hashes whichever of them are stored', async () => {
    const project = randomUUID();
    const log = newLog(5 * 256);
    const added = newImport();
    await added.append(piecesOf(project, log, 300));
    const hashes = async () =>
      (await createLogStore(store().log).hashes(project, 1, 0, 5)).toString('hex').toUpperCase();
    const remove = (place: number) =>
      store().background.command(
        `DELETE FROM log_hashes WHERE project_id = '${project}' AND idx = ${place} SETTINGS lightweight_deletes_sync = 2`,
      );

    const computed = await hashes();
    await added.finish();
    const stored = await hashes();
    await remove(4);
    const withoutLast = await hashes();
    await remove(1);

    expect([stored, withoutLast, await hashes()]).to.deep.equal([computed, computed, computed]);
    expect(computed).to.equal(
      rootsOf256(leafHashes(Buffer.from(log.join(''), 'hex')))
        .toString('hex')
        .toUpperCase(),
    );
  });

  it('refuses a log with another history, and writes nothing', async () => {
    const project = randomUUID();
    const log = newLog(10);
    await newImport().append(piecesOf(project, log, 10));
    const fork = [...log.slice(0, 8), ...newLog(5)];
    const fault = `Error: The log of project ${project} in this store differs from the exported one from index 8 on`;

    expect(await faultOf(newImport().check(piecesOf(project, fork, 3)))).to.include(fault);
    expect(await faultOf(newImport().append(piecesOf(project, fork, 3)))).to.include(fault);
    expect(await faultOf(newImport().check(piecesOf(project, log.slice(0, 9), 2)))).to.equal('none');
    expect(await logOf(project)).to.equal(log.join(''));
  });

  it('refuses an export that lacks entries', async () => {
    const project = randomUUID();
    const [first, second, third] = piecesOf(project, newLog(6), 2) as [
      ExportedPiece,
      ExportedPiece,
      ExportedPiece,
    ];

    expect(await faultOf(newImport().append([second]))).to.include('lacks the entry 0');
    expect(await faultOf(newImport().append([first, third]))).to.include('lacks the entry 2');
    expect(await logOf(project)).to.equal('');
  });

  it('does not fork a log that a service extends at the same time', async () => {
    const project = randomUUID();
    const log = newLog(4);
    const others = newLog(1);
    const { log: connection } = store();
    const tables = new LogTables(connection);
    let isOther = true;
    // The round of a service comes between the check and the commit of the import.
    const insert: typeof connection.insert = async (rows) => {
      if (isOther) {
        isOther = false;
        const round = (await tables.newestRound()) + 1;
        const { now } = await tables.newsAfter(round);
        const row = { project_id: project, start: 0, entries: others.join(' '), ...TIMES, flushes: [] };
        await tables.commit({ round, proposal: '1', proposed_at: now, rows: [row] });
        // A store of one process does not look at tokens.
        if (store().kind === 'embedded') return;
      }
      await connection.insert(rows);
    };

    const work = new LogImport({ ...connection, insert }, createLogger('silent'));

    expect(await faultOf(work.append(piecesOf(project, log, 4)))).to.include('from index 0 on');
    expect(await logOf(project)).to.equal(others.join(''));
  });
}
