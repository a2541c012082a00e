// Builds dist/runtime.wasm and compares it with the recorded hash. The runtime is part of every module and so of every
// ETag: a change of its bytes must be deliberate. `node server/policy/runtime/build.ts --record` records a new hash.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { main } from 'assemblyscript/asc';
import { sha256Hex } from '../../sha256.ts';

const HASH_FILE = new URL('runtime.sha256', import.meta.url);
const DIST = new URL('dist/', import.meta.url);

const OPTIONS = [
  ['--runtime', 'stub'],
  // Without this option, a trap would call an import.
  ['--use', 'abort='],
  ['--optimizeLevel', '3'],
  ['--shrinkLevel', '1'],
  ['--noAssert'],
  ['--initialMemory', '3'],
  ['--maximumMemory', '96'],
].flat();

async function compile(): Promise<Uint8Array> {
  let wasm: Uint8Array | undefined;
  let messages = '';
  const collect = { write: (text: string | Uint8Array) => void (messages += String(text)) };
  const { error } = await main(['index.ts', '--outFile', 'runtime.wasm', ...OPTIONS], {
    stdout: collect,
    stderr: collect,
    readFile: readSource,
    writeFile: (_name: string, contents: string | Uint8Array) => {
      if (typeof contents !== 'string') wasm = contents;
    },
    listFiles: () => [],
  });
  if (error !== null || wasm === undefined || messages !== '')
    throw new Error(`The policy runtime does not compile cleanly:\n${messages}`, { cause: error });
  return wasm;
}

/** The compiler also asks for files that do not exist. */
function readSource(name: string): string | null {
  try {
    return readFileSync(new URL(`assembly/${name}`, import.meta.url), 'utf8');
  } catch {
    // Null means that the file does not exist.
    return null;
  }
}

const wasm = await compile();
const hash = sha256Hex(wasm);
if (process.argv.includes('--record')) writeFileSync(HASH_FILE, `${hash}\n`);
const recorded = readFileSync(HASH_FILE, 'utf8').trim();
if (hash !== recorded) {
  throw new Error(
    `runtime.wasm has SHA-256 ${hash}, but ${recorded} is recorded. If the change is intended, run this with --record`,
  );
}
mkdirSync(DIST, { recursive: true });
writeFileSync(new URL('runtime.wasm', DIST), wasm);
