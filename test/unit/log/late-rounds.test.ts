import { expect } from 'chai';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const QUERIES = globSync(join(import.meta.dirname, '../../../clickhouse/query/*.sql'));
/** They concern all rounds that the store holds: late ones also take round numbers. */
const OF_ALL_ROUNDS = ['log_head.sql', 'log_grown.sql'];

describe('the queries of rounds', () => {
  it('leave out rounds that arrived too late to count', () => {
    const timesIn = (path: string, text: string) => readFileSync(path, 'utf8').split(text).length - 1;
    const reading = QUERIES.filter((path) => timesIn(path, 'FROM log_chunks') > 0);
    const forgetful = reading.filter(
      (path) =>
        timesIn(path, 'committed_at < proposed_at + INTERVAL 5 MINUTE') < timesIn(path, 'FROM log_chunks'),
    );

    expect(reading.length).to.be.above(10);
    expect(forgetful.map((path) => basename(path))).to.have.members(OF_ALL_ROUNDS);
  });
});
