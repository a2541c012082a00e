// Reports what the tests need and the machine lacks. As root on Debian or Ubuntu, installs it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findChromium, HEADLESS } from './find-chromium.ts';

const has = (command: string) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
const NEEDS = [
  { what: 'Chromium or Chrome', package: 'chromium', isMet: () => findChromium() !== undefined },
  { what: 'a C compiler', package: 'gcc libc6-dev', isMet: () => has('gcc') },
  {
    what: 'the WebAssembly binary toolkit',
    package: 'wabt',
    isMet: () => has('wasm2c') && has('wasm-validate'),
  },
  { what: 'Python 3', package: 'python3', isMet: () => has('python3') },
  { what: 'OpenSSL', package: 'openssl', isMet: () => has('openssl') },
];

const mayInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version');
const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
const apt = (...args: string[]) =>
  spawnSync('apt-get', ['-qq', ...args], { stdio: ['ignore', 'ignore', 'inherit'], env }).status === 0;
const install = (...packages: string[]) =>
  apt('update') && apt('install', '-y', '--no-install-recommends', ...packages);

// If there is no such package, any Chromium will do.
if (mayInstall && !has(HEADLESS)) install(HEADLESS);

const missing = NEEDS.filter(({ isMet }) => !isMet());
if (missing.length > 0) {
  const packages = missing.flatMap(({ package: name }) => name.split(' '));
  if (!mayInstall) {
    console.error(`The tests need ${missing.map(({ what }) => what).join(', ')}.`);
    console.error(`On Debian or Ubuntu: sudo apt-get install ${packages.join(' ')}`);
  }
  if (!mayInstall || !install(...packages)) process.exit(1);
}
