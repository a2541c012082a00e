import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { createLogStore } from '../../server/log/log-store.ts';
import type { Store } from '../../server/store/store.ts';
import { eventually } from '../support/eventually.ts';

const RECEIVED = '2026-11-22 12:00:00.000';
const LATER = '2026-11-22 12:00:01.000';
const LATEST = '2026-11-22 12:00:02.000';
const LARGE_LOG_PIECES = 400;
const SMALL_ROUNDS = 64;

/** How a proof finds the entry of a record. */
export function logPiecesSuite(store: () => Store): void {
  it('gives the pieces of a log by time with each entry at its position, including one that ends with zeros', async () => {
    const { background } = store();
    const project_id = randomUUID();
    const entries = ['00', '01', 'ff'].map((byte) => byte.repeat(32)).concat(`${'a7'.repeat(30)}0000`);
    const rows = [
      { start: 0, of: entries, from: RECEIVED, to: LATER },
      { start: 4, of: entries.toReversed(), from: LATER, to: LATER },
      { start: 8, of: entries, from: LATEST, to: LATEST },
    ];
    const columns = [
      'project_id',
      'start',
      'round',
      'entries_hex',
      'received_from',
      'received_to',
      'proposed_at',
    ];
    const now = new Date().toISOString().slice(0, -1).replace('T', ' ');
    const lines = rows.map(({ start, of, from, to }) =>
      JSON.stringify([project_id, start, 1, of.join(' '), from, to, now]),
    );
    await background.insert({ table: 'log_chunks', columns, lines, token: undefined });

    const pieces = await createLogStore(background).piecesAt(project_id, { from: LATER, to: LATER });

    const found = pieces
      .sort((a, b) => a.from - b.from)
      .map((piece) => [piece.from, piece.entries.toString('hex')]);
    expect(found).to.deep.equal([
      [0, entries.join('')],
      [4, entries.toReversed().join('')],
    ]);
  });

  it('that are small are merged with each other, and seldom with a large log', async () => {
    const { background } = store();
    await background.command('CREATE TABLE log_pieces AS log_chunks');
    const insert = (round: number, pieces: number) =>
      background.command(
        "INSERT INTO log_pieces (project_id, start, entries) SELECT 'p', {round: UInt32} + number, arrayWithConstant(200, toFixedString('', 32)) FROM numbers({pieces: UInt32})",
        { round, pieces },
      );
    await insert(SMALL_ROUNDS, LARGE_LOG_PIECES);
    for (let round = 0; round < SMALL_ROUNDS; round += 1) await insert(round, 1);
    const merging = () => background.query("SELECT 1 FROM system.merges WHERE table = 'log_pieces'");
    await eventually(async () => (await merging()).length === 0);
    const rewritten = await background.query<{ level: number }>(
      "SELECT level FROM system.parts WHERE table = 'log_pieces' AND level > 0 AND rows > {pieces: UInt32}",
      { pieces: LARGE_LOG_PIECES },
    );
    await background.command('DROP TABLE log_pieces');

    expect(rewritten.length).to.be.at.most(SMALL_ROUNDS / 16);
  });
}
