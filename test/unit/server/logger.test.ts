import { expect } from 'chai';
import { LOG_CHARS_MAX } from '../../../server/limits.ts';
import { runCommand } from '../../support/processes.ts';

const LINES = 50_000;
const PROGRAM = `
  import { createLogger } from ${JSON.stringify(new URL('../../../server/logger.ts', import.meta.url).href)};
  const logger = createLogger('info');
  for (let line = 0; line < ${LINES}; line += 1) logger.info('x'.repeat(1000));
`;

describe('the log', () => {
  it('drops lines beyond a bound while standard output takes none', async () => {
    // Nothing is written before the loop ends.
    const { code, stdout } = await runCommand(process.execPath, ['--input-type=module', '--eval', PROGRAM]);

    expect(code).to.equal(0);
    expect(stdout.length).to.be.within(LOG_CHARS_MAX / 2, LOG_CHARS_MAX);
  });
});
