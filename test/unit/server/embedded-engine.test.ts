import { expect } from 'chai';
import { inProcess } from '../../support/in-process.ts';

const CALLS = new URL('support/engine-calls.ts', import.meta.url);

describe('the embedded engine', () => {
  it('is configured by clickhouse/embedded.xml, for all connections and when it is opened again', async () => {
    const values = await inProcess(CALLS, 'configured', 'max_io_thread_pool_free_size');

    expect(values).to.deep.equal(['100', '100', '100', '100']);
  });

  it('is closed when its statements have ended, because exiting earlier may crash', async () => {
    expect(await inProcess(CALLS, 'closedWhileBusy', null)).to.equal('ended');
  });

  it('kills a long statement that nobody waits for, and is closed at once', async () => {
    expect(await inProcess(CALLS, 'storeClosedWhileBusy', null)).to.equal('ended');
  });

  it('returns only the rows of the statement after another failed or was stopped while answering', async () => {
    const failing = [
      'SELECT number AS theirs, throwIf(number = 5) FROM numbers(9) SETTINGS max_block_size = 1',
      `SELECT number AS theirs, sleepEachRow(0.05) FROM numbers(99)
       SETTINGS max_block_size = 1, max_execution_time = 0.5`,
    ];

    const answers = await inProcess(CALLS, 'answersAfter', failing);

    const expected = ['failed', [{ mine: 1 }], [{ mine: 2 }], 'failed', '{"mine":3}\n'];
    expect(answers).to.deep.equal([...expected, ...expected]);
  });
});
