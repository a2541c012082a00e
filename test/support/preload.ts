import cluster from 'node:cluster';
import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Loaded before each service under test (NODE_OPTIONS=--import).

// It ends with the process that started it, even if that is killed. The workers of a service end by themselves.
const parent = process.ppid;
const endWithParent = () => process.ppid !== parent && process.kill(process.pid, 'SIGKILL');
if (cluster.isPrimary) setInterval(endWithParent, 500).unref();

// Its clock is ahead by the number of milliseconds in the file.
const path = process.env['GATE_TEST_CLOCK_FILE'];
const now = Date.now.bind(Date);
if (path !== undefined) Date.now = () => now() + Number(readFileSync(path, 'utf8'));

// It may believe that its container has so little memory.
const memory = process.env['GATE_TEST_MEMORY_BYTES'];
if (memory !== undefined) process.constrainedMemory = () => Number(memory);

// Scrypt with the service's costs takes 0.2 s of a processor, and the tests need it hundreds of times. Here it is cheap;
// unit/accounts/passwords tests the real costs.
// It does not end while the file named by the variable exists.
const HELD_BY = process.env['GATE_TEST_SCRYPT_HELD_BY'];
const whenFree = (go: () => void): void =>
  HELD_BY !== undefined && existsSync(HELD_BY) ? void setTimeout(whenFree, 20, go) : go();
const { scrypt } = crypto;
type Done = (error: Error | null, key: Buffer) => void;
type Arguments = [BinaryLike, BinaryLike, number, ScryptOptions, Done];
const cheapScrypt = (...[password, salt, length, options, done]: Arguments) =>
  scrypt(password, salt, length, { ...options, N: 2, p: 1 }, (...result) => whenFree(() => done(...result)));
Object.assign(crypto, { scrypt: cheapScrypt });
syncBuiltinESMExports();
