import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { createLogStore } from '../../server/log/log-store.ts';
import type { Store } from '../../server/store/store.ts';

const RECEIVED = '2026-11-22 12:00:00.000';
const LATER = '2026-11-22 12:00:01.000';
const LATEST = '2026-11-22 12:00:02.000';

/** How a proof finds the entry of a record. */
export function logPiecesSuite(store: () => Store): void {
  it('gives the pieces of a log by time with each entry at its place, also one that ends with zeros', async () => {
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
}
