import { expect } from 'chai';
import { readFileSync } from 'node:fs';

type Entry = { integrity?: string; link?: boolean; optional?: boolean; os?: string[]; cpu?: string[] };

const lockFile = JSON.parse(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Entry>;
};

/** This repository's own packages, which are not downloaded. */
const OWN = ['', 'client'];

/** Builds for other platforms, which the registry that made the lock file does not have. See SECURITY.md, "Packages". */
const WITHOUT_INTEGRITY = ['darwin-arm64', 'darwin-x64', 'linux-arm64-gnu'].map(
  (platform) => `node_modules/@chdb/lib-${platform}`,
);

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
