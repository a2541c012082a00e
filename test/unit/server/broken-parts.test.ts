import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  findBrokenParts,
  leaveParts,
  nameParts,
  requireInForce,
} from '../../../server/store/broken-parts.ts';
import type { Connection } from '../../../server/store/connection.ts';
import { Handover } from '../../../server/store/handover.ts';
import { sql } from '../../../server/store/sql.ts';
import { temporaryDirectory } from '../../support/service.ts';

const NOW_S = 1_800_000_000;
const part = (first: number, last: number, expires = 0) => ({
  table: 'api_keys',
  name: `all_${first}_${last}_1`,
  partition_id: 'all',
  first,
  last,
  expires,
});
type Part = ReturnType<typeof part>;

/** A connection to a store with these parts, and with those moved aside. */
function storeOf(present: Part[], aside: string[] = []) {
  const broken = aside.map((name) => ({ table: 'api_keys', name }));
  const query = (text: string) => Promise.resolve(text === sql('parts_broken') ? broken : present);
  return { query } as unknown as Connection;
}

describe('parts that are missing at a start', () => {
  const rows: [string, { left: Part[]; present: Part[]; aside?: string[]; named: string[] }][] = [
    [
      'gone without a trace',
      { left: [part(1, 1), part(2, 2)], present: [part(2, 2)], named: ['api_keys all_1_1_1 (missing)'] },
    ],
    ['merged since', { left: [part(1, 1), part(2, 2)], present: [part(1, 2)], named: [] }],
    [
      'there as the parts that they were merged from',
      { left: [part(1, 2)], present: [part(1, 1), part(2, 2)], named: [] },
    ],
    ['expired', { left: [part(1, 1, NOW_S - 1)], present: [], named: [] }],
    [
      'not expired yet',
      { left: [part(1, 1, NOW_S + 1)], present: [], named: ['api_keys all_1_1_1 (missing)'] },
    ],
    [
      'moved aside',
      {
        left: [part(1, 1)],
        present: [],
        aside: ['broken-on-start_all_1_1_1'],
        named: ['api_keys broken-on-start_all_1_1_1'],
      },
    ],
  ];
  for (const [what, { left, present, aside, named }] of rows)
    it(`are ${named.length === 0 ? 'not ' : ''}named when ${what}`, async () => {
      const dataDir = temporaryDirectory();
      await leave(dataDir, left);

      expect(await find(dataDir, storeOf(present, aside))).to.deep.equal(named);
    });

  it('stop the start, unless their rows expire: the clock may have been ahead', () => {
    const missing = (expires: number) => [
      { table: 'sessions', name: 'all_1_1_1', isMissing: true as const, expires },
    ];

    expect(() => requireInForce(missing(0))).to.throw('sessions all_1_1_1 (missing)');
    requireInForce(missing(NOW_S + 1));
  });

  it('are not named by a list with a wrong byte', async () => {
    const dataDir = temporaryDirectory();
    await leave(dataDir, [part(1, 1)]);
    await open(dataDir).then((handover) => handover.close());
    const path = join(dataDir, 'handover-parts.behind');
    const bytes = readFileSync(path);

    for (let at = 0; at < bytes.length; at += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(path, damaged);
      expect(await find(dataDir, storeOf([])), `byte ${at}`).to.deep.equal([]);
    }
  });

  async function leave(dataDir: string, parts: Part[]): Promise<void> {
    await leaveParts({ connection: storeOf(parts), handover: await open(dataDir) }, []);
  }

  async function find(dataDir: string, connection: Connection): Promise<string[]> {
    return nameParts(
      await findBrokenParts({ connection, handover: await open(dataDir), nowMs: NOW_S * 1000 }),
    );
  }

  async function open(dataDir: string): Promise<Handover> {
    const handover = new Handover(dataDir);
    await handover.open();
    return handover;
  }
});
