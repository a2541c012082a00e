// Says what the tests need and the machine does not have; as root on Debian or Ubuntu it installs that.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const NEEDS = [
  {
    what: 'Chromium or Chrome',
    package: 'chromium',
    commands: ['chromium', 'chromium-browser', 'google-chrome', 'chrome'],
  },
  { what: 'a C compiler', package: 'gcc libc6-dev', commands: ['gcc'] },
  { what: 'the WebAssembly binary toolkit', package: 'wabt', commands: ['wasm2c', 'wasm-validate'] },
];

const has = (command: string) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
const isMet = ({ package: name, commands }: (typeof NEEDS)[number]) =>
  name === 'wabt' ? commands.every(has) : commands.some(has);

const missing = NEEDS.filter((need) => !isMet(need));
if (missing.length > 0) {
  const packages = missing.flatMap(({ package: name }) => name.split(' '));
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) {
    console.error(`The tests need ${missing.map(({ what }) => what).join(', ')}.`);
    console.error(`On Debian or Ubuntu: sudo apt-get install ${packages.join(' ')}`);
    process.exit(1);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', ['update', '-qq'], { stdio: 'inherit', env });
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
    stdio: 'inherit',
    env,
  });
}
