// Runs a command and keeps a copy of its standard input in FILE.in and of its output in FILE.out: mcp-tee.ts FILE COMMAND [ARGUMENT…]
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [file = '', command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });

process.stdin.on('data', (chunk: Buffer) => {
  appendFileSync(`${file}.in`, chunk);
  child.stdin.write(chunk);
});
process.stdin.on('end', () => child.stdin.end());
child.stdout.on('data', (chunk: Buffer) => {
  appendFileSync(`${file}.out`, chunk);
  process.stdout.write(chunk);
});
child.stdin.on('error', () => undefined);
process.on('SIGTERM', () => child.kill());
child.on('close', (code) => process.exit(code ?? 1));
