// Runs the suites that start services in two lanes. A third lane runs those over the wire and then all others: two lanes alone leave the
// processors idle for much of the time. Then come the suites that must run alone. A file with a failure is run once more, alone and with
// the same seed: a test that fails again is red, one that passes is named as unsteady. The names come last, where the reader of a long log
// looks. Exits with 1 if anything is red.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildServer } from './build-server.ts';
import type { Failure } from './list-failures.ts';

type RunOptions = { stdio?: 'inherit' | 'pipe'; files?: string[]; env?: Record<string, string> };
type Ended = { output: string; failures: Failure[]; hasFailed: boolean };

const directory = mkdtempSync(join(tmpdir(), 'gate-tests-'));
process.env['GATE_TEST_SEED'] ??= String(Math.floor(Math.random() * 1_000_000));
let runs = 0;

async function run(script: string, { stdio = 'inherit', files = [], env }: RunOptions = {}): Promise<Ended> {
  const list = join(directory, String((runs += 1)));
  const child = spawn('npm', ['run', '--silent', script, '--', ...files], {
    stdio: ['ignore', stdio, stdio],
    env: { ...process.env, ...env, GATE_TEST_FAILURES: list, GATE_TEST_DIRECTORY: directory },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { output, failures: failuresIn(list), hasFailed: code !== 0 };
}

function failuresIn(list: string): Failure[] {
  try {
    const lines = readFileSync(list, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Failure);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const unsteady: Failure[] = [];
const red: Failure[] = [];

/** Runs the files with failures once more. A run that failed without naming a test stays red. */
async function judge(script: string, { failures, hasFailed }: Ended, again: string): Promise<void> {
  if (!hasFailed) return;
  const files = [...new Set(failures.map(({ file }) => file))];
  if (files.length === 0) {
    red.push({ file: script, title: 'the run', error: 'ended with an error outside of the tests' });
    return;
  }
  console.log(`\nAgain, with nothing beside it: ${files.join(', ')}`);
  const second = await run(again, { files });
  const failedTwice = new Set(second.failures.map(({ title }) => title));
  unsteady.push(...failures.filter(({ title }) => !failedTwice.has(title)));
  red.push(...second.failures);
  if (second.hasFailed && second.failures.length === 0)
    red.push({
      file: files.join(', '),
      title: 'the second run',
      error: 'ended with an error outside of the tests',
    });
}

// The suites that run alone, and those that run again, start the service from its sources.
const env = { GATE_TEST_SERVER: await buildServer() };
const wire = run('test:wire', { stdio: 'pipe', env });
const beside = wire.then(() => run('test:beside', { stdio: 'pipe', env }));
const parallel = await run('test:parallel', { env });
for (const { output } of await Promise.all([wire, beside])) process.stdout.write(output);
const alone = await run('test:alone');
await judge('test:parallel', parallel, 'test:file');
await judge('test:wire', await wire, 'test:wire');
await judge('test:beside', await beside, 'test:file');
await judge('test:alone', alone, 'test:file');
rmSync(directory, { recursive: true });

const print = (heading: string, failures: Failure[]) => {
  if (failures.length === 0) return;
  console.log(`\n${heading} (GATE_TEST_SEED=${process.env['GATE_TEST_SEED']}):`);
  for (const { file, title, error } of failures) console.log(`  ${file}: ${title}: ${error}`);
};
print('Failed once, passed when run again alone', unsteady);
print('Failed', red);
if (red.length > 0) process.exit(1);
