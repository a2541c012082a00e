import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { measureAttacks, type Target } from './measure.ts';
import type { StrangersOptions } from './strangers.ts';

const SCRIPT = fileURLToPath(new URL('./strangers.ts', import.meta.url));
const PASSWORD = 'correct horse battery staple';

const CALLS = ['login', 'forgot', 'register'] as const;
/** The addresses of one small network: limits by address alone do not stop them. */
const MANY = { connections: 64, perSecond: 0, addresses: 254 };

/** Strangers at the calls that need no credential. */
export function benchAccountAttacks({ seconds }: { seconds: number }): Promise<void> {
  const strangers = (options: Omit<StrangersOptions, 'seconds'>) => (target: Target, duration: number) =>
    attackAndSignIn(target, { ...options, seconds: duration });
  return measureAttacks(
    {
      'all three, 43 requests/s': strangers({ ...MANY, kinds: [...CALLS], perSecond: 43 }),
      'all three, one address': strangers({ ...MANY, kinds: [...CALLS], addresses: 1 }),
      'login, 64 connections': strangers({ ...MANY, kinds: ['login'] }),
      'forgot, 64 connections': strangers({ ...MANY, kinds: ['forgot'] }),
      'register, 90 connections': strangers({ ...MANY, kinds: ['register'], connections: 90 }),
      'register one taken e-mail': strangers({ ...MANY, kinds: ['taken'] }),
    },
    { seconds, env: { GATE_TRUSTED_PROXIES: '127.0.0.0/8' } },
  );
}

/** At the same time, somebody signs in with the right password once a second, from a separate address. */
async function attackAndSignIn({ url }: Target, options: StrangersOptions): Promise<string> {
  const person = { email: 'right@example.com', password: PASSWORD };
  await post(url, '/v1/auth/register', person);
  const child = spawn(process.execPath, [SCRIPT, url.hostname, url.port, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const logins: string[] = [];
  const times: number[] = [];
  const isOver = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  while (child.exitCode === null) {
    const startMs = performance.now();
    const status = await post(url, '/v1/auth/login', person);
    logins.push(String(status));
    times.push(performance.now() - startMs);
    await Promise.race([isOver, sleep(1000)]);
  }
  const good = logins.filter((status) => status === '200').length;
  const slowest = Math.max(...times).toFixed(0);
  return `${output}; right logins ${good} of ${logins.length}, slowest ${slowest} ms`;
}

const agent = new Agent({ keepAlive: true });

function post({ hostname, port }: URL, path: string, body: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': '198.51.100.7' };
    const call = request({ hostname, port, path, method: 'POST', headers, agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    call.on('error', reject).end(JSON.stringify(body));
  });
}
