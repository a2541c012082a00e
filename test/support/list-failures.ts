import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import Mocha from 'mocha';

/** A failed test: its file, its full title, and the first line of the error. */
export type Failure = { file: string; title: string; error: string };

/** Like mocha's own reporter `spec`. Also appends each failure to the file named by GATE_TEST_FAILURES, as a line of JSON. */
export default class ListFailures extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options);
    runner.on(Mocha.Runner.constants.EVENT_TEST_FAIL, (test: Mocha.Runnable, error: Error) => {
      const path = process.env['GATE_TEST_FAILURES'];
      if (path === undefined) return;
      const [firstLine = ''] = error.message.split('\n');
      const file = relative(process.cwd(), test.file ?? test.parent?.file ?? '');
      const failure: Failure = { file, title: test.fullTitle(), error: firstLine };
      appendFileSync(path, `${JSON.stringify(failure)}\n`);
    });
  }
}
