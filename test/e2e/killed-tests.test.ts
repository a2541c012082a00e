import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../support/eventually.ts';
import { ROOT, storeDirectory } from '../support/service.ts';

const PROGRAM = `
import { startTestService } from './test/support/service.ts';
process.stdout.write((await startTestService({ dataDir: process.argv[1] })).url);
setInterval(() => {}, 1000);`;

describe('a service under test', () => {
  it('ends with the process that started it, even if that is killed', async () => {
    const args = ['--input-type=module', '-e', PROGRAM, await storeDirectory()];
    const tests = spawn(process.execPath, args, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [url] = (await once(tests.stdout.setEncoding('utf8'), 'data')) as [string];
    const isUp = () =>
      fetch(`${url}/healthz`).then(
        () => true,
        () => false,
      );
    const before = await isUp();
    tests.kill('SIGKILL');

    expect(before).to.equal(true);
    await eventually(async () => !(await isUp()));
  });
});
