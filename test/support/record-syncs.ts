import fs, { appendFileSync, fstatSync, readdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Loaded before a process (NODE_OPTIONS=--import). For each file or directory that the process syncs, it adds a line to the file
// GATE_TEST_SYNCS with its path and state: when it was last changed, and the names in it.
const list = String(process.env['GATE_TEST_SYNCS']);
const { fsyncSync } = fs;
fs.fsyncSync = (file) => {
  const stat = fstatSync(file, { bigint: true });
  const names = stat.isDirectory() ? readdirSync(`/proc/self/fd/${file}`) : [];
  fsyncSync(file);
  appendFileSync(
    list,
    `${JSON.stringify({ file: String(stat.ino), changed: String(stat.mtimeNs), names })}\n`,
  );
};
syncBuiltinESMExports();
