import { expect } from 'chai';
import { LOG_CHARS_MAX } from '../../../server/limits.ts';
import { runCommand } from '../../support/processes.ts';

const LINES = 50_000;

/** Runs statements that use `logger` and `endLog` in a process of its own. */
function runProgram(statements: string): ReturnType<typeof runCommand> {
  const url = JSON.stringify(new URL('../../../server/logger.ts', import.meta.url).href);
  const program = `
    import { createLogger, endLog } from ${url};
    const logger = createLogger('info');
    ${statements}
  `;
  return runCommand(process.execPath, ['--input-type=module', '--eval', program]);
}

describe('the log', () => {
  it('drops lines beyond a bound while standard output takes none', async () => {
    // Nothing is written before the loop ends.
    const { code, stdout } = await runProgram(
      `for (let line = 0; line < ${LINES}; line += 1) logger.info('x'.repeat(1000));`,
    );

    expect(code).to.equal(0);
    expect(stdout.length).to.be.within(LOG_CHARS_MAX / 2, LOG_CHARS_MAX);
  });

  it('drops the lines of work that outlives its end', async () => {
    const { code, stdout } = await runProgram(`
      logger.info('early');
      const ended = endLog(logger);
      logger.info('late');
      await ended;
      logger.child({}).error('later');
    `);

    expect(code).to.equal(0);
    expect(stdout).to.include('early').and.not.include('late');
  });
});
