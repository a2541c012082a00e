// Runs the suites on the embedded engine and, beside them, those over the wire: neither keeps two processors busy alone. Then the suites that must be alone. Exits with
// 1 if any of them failed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

type Ended = { output: string; hasFailed: boolean };

async function run(script: string, stdio: 'inherit' | 'pipe'): Promise<Ended> {
  const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', stdio, stdio] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { output, hasFailed: code !== 0 };
}

const wire = run('test:wire', 'pipe');
const parallel = await run('test:parallel', 'inherit');
process.stdout.write((await wire).output);
const alone = await run('test:alone', 'inherit');
if ([await wire, parallel, alone].some(({ hasFailed }) => hasFailed)) process.exit(1);
