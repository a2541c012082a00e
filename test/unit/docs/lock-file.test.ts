import { expect } from 'chai';
import { readFileSync } from 'node:fs';

type Entry = { integrity?: string; link?: boolean; optional?: boolean; os?: string[]; cpu?: string[] };

const lockFile = JSON.parse(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Entry>;
};

/** This repository's own packages, which are not downloaded. */
const OWN = ['', 'client'];

/** Builds for other platforms, which the registry that made the lock file does not have. See SECURITY.md, "Packages". */
const WITHOUT_INTEGRITY = [
  ...['darwin-arm64', 'darwin-x64', 'linux-arm64-gnu'].map((platform) => `@chdb/lib-${platform}`),
  ...['darwin-arm64', 'darwin-x64', 'win32-arm64', 'win32-x64'].map(
    (platform) => `@oxlint-tsgolint/${platform}`,
  ),
  ...['android-arm-eabi', 'android-arm64', 'darwin-arm64', 'darwin-x64', 'freebsd-x64', 'linux-arm-gnueabihf']
    .concat(['linux-arm-musleabihf', 'linux-arm64-musl', 'linux-ppc64-gnu', 'linux-riscv64-gnu'])
    .concat(['linux-riscv64-musl', 'linux-s390x-gnu', 'linux-x64-musl', 'openharmony-arm64'])
    .concat(['win32-arm64-msvc', 'win32-ia32-msvc', 'win32-x64-msvc'])
    .map((platform) => `@oxlint/binding-${platform}`),
].map((name) => `node_modules/${name}`);

describe('package-lock.json', () => {
  const unchecked = Object.entries(lockFile.packages).filter(
    ([path, { integrity, link }]) => integrity === undefined && link !== true && !OWN.includes(path),
  );

  it('has the hash of every package, except for a fixed list of builds for other platforms', () => {
    const paths = unchecked.map(([path]) => path);

    expect(paths.filter((path) => !WITHOUT_INTEGRITY.includes(path))).to.deep.equal([]);
  });

  it('has packages without a hash only where npm may leave them out', () => {
    const required = unchecked.filter(([, { optional, os, cpu }]) => !(optional === true && os && cpu));

    expect(required).to.deep.equal([]);
  });

  it('has only SHA-512 hashes', () => {
    const weak = Object.entries(lockFile.packages).filter(
      ([, { integrity }]) => integrity !== undefined && !integrity.startsWith('sha512-'),
    );

    expect(weak).to.deep.equal([]);
  });
});
