import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';

/** Writes a file in one step: a reader, and a crash, find the old bytes or the new ones. */
export function replaceFile(path: string, bytes: Uint8Array | string): void {
  const temporary = `${path}.tmp`;
  const file = openSync(temporary, 'w');
  try {
    const data = Buffer.from(bytes);
    for (let at = 0; at < data.length;) at += writeSync(file, data, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}
