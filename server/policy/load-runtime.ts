import { readFileSync } from 'node:fs';

const RUNTIME = new URL('runtime/dist/runtime.wasm', import.meta.url);

/** The runtime that every module starts with, as `npm run build` made it. */
export function loadRuntime(file: URL = RUNTIME): Uint8Array {
  try {
    return new Uint8Array(readFileSync(file));
  } catch (cause) {
    throw new Error('The policy runtime is not built: run "npm run build"', { cause });
  }
}
