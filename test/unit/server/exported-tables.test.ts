import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { EVENT_TABLES, LOG_TABLE, SMALL_TABLES } from '../../../server/cli/transfer.ts';

const MIGRATIONS = new URL('../../../clickhouse/migrations/', import.meta.url);
/** Identities and hashes are made anew by the import; rounds of alerts are those of the services on one store. */
const NOT_EXPORTED = ['event_identities', 'log_hashes', 'alert_rounds'];

describe('an export', () => {
  it('has every table of the schema that is not made anew', () => {
    const statements = readdirSync(MIGRATIONS).map((name) => readFileSync(new URL(name, MIGRATIONS), 'utf8'));
    const tables = [...statements.join('\n').matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g)].map(
      ([, name]) => name,
    );

    expect(new Set(tables)).to.deep.equal(
      new Set([...SMALL_TABLES, ...EVENT_TABLES, LOG_TABLE, ...NOT_EXPORTED]),
    );
  });
});
