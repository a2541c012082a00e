import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CommandError } from '../../../server/cli/command-error.ts';
import { EVENT_TABLES, linesOf, LOG_TABLE, SMALL_TABLES } from '../../../server/cli/transfer.ts';
import { temporaryDirectory } from '../../support/service.ts';

const MIGRATIONS = new URL('../../../clickhouse/migrations/', import.meta.url);
/** Identities and hashes are made again by the import; rounds of alerts are those of the services on one store. */
const NOT_EXPORTED = ['event_identities', 'log_hashes', 'alert_rounds'];

describe('an export', () => {
  it('has every table of the schema that an import does not rebuild', () => {
    const statements = readdirSync(MIGRATIONS).map((name) => readFileSync(new URL(name, MIGRATIONS), 'utf8'));
    const tables = [...statements.join('\n').matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g)].map(
      ([, name]) => name,
    );

    expect(new Set(tables)).to.deep.equal(
      new Set([...SMALL_TABLES, ...EVENT_TABLES, LOG_TABLE, ...NOT_EXPORTED]),
    );
  });

  it('that is damaged is reported with the file', async () => {
    const path = join(temporaryDirectory(), 'decisions.jsonl.gz');
    const whole = gzipSync(randomBytes(3000).toString('hex'));
    writeFileSync(path, whole.subarray(0, 1000));

    const error = await linesOf(path)
      .next()
      .catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(CommandError);
    expect(String(error)).to.equal(`Error: ${path} is damaged. Delete it, and run the export again.`);
  });
});
