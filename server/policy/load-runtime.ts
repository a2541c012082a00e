import { readFileSync } from 'node:fs';

const RUNTIME = new URL('runtime/dist/runtime.wasm', import.meta.url);

/** Reads the runtime that every module begins with. */
export function loadRuntime(file: URL = RUNTIME): Uint8Array {
  try {
    return new Uint8Array(readFileSync(file));
  } catch (cause) {
    throw new Error('The policy runtime is not built: run "npm run build"', { cause });
  }
}
