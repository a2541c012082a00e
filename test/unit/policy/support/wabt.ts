import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const WANTED = 'The policy tests need wabt and gcc: apt-get install wabt gcc libc6-dev';

/** Debian's wabt and gcc. As root they are installed if missing; otherwise the test fails. */
export function requireWabt(): void {
  if (hasTools()) return;
  if (process.getuid?.() === 0) {
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'wabt', 'gcc', 'libc6-dev'], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
  if (!hasTools()) throw new Error(WANTED);
}

function hasTools(): boolean {
  return ['wasm2c', 'wasm-validate', 'gcc'].every((tool) => spawnSync(tool, ['--version']).status === 0);
}

/** Runs a tool in a fresh directory that holds the given files; returns its standard output. */
export function runTool(
  command: string[],
  { directory, input }: { directory: string; input?: Uint8Array | undefined },
): Buffer {
  const [tool = '', ...options] = command;
  const run = spawnSync(tool, options, { cwd: directory, input: input ?? '', maxBuffer: 64 * 1024 * 1024 });
  if (run.status === 0) return run.stdout;
  throw new Error(`${command.join(' ')} failed (${run.signal ?? run.status}):\n${String(run.stderr)}`);
}

export function inDirectory<Result>(use: (directory: string) => Result): Result {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-policy-'));
  try {
    return use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A module in the text format, to test the engine with faulty modules. */
export function moduleFromText(text: string): Uint8Array {
  requireWabt();
  return inDirectory((directory) => {
    writeFileSync(join(directory, 'module.wat'), text);
    runTool(['wat2wasm', 'module.wat', '-o', 'module.wasm'], { directory });
    return new Uint8Array(readFileSync(join(directory, 'module.wasm')));
  });
}
