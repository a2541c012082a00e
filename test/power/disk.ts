import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** By file system, the options that keep it from writing anything on its own within minutes. */
export const FILE_SYSTEMS = {
  ext4: { make: ['mkfs.ext4', '-q', '-F'], lazy: 'commit=600', copy: 'defaults' },
  xfs: { make: ['mkfs.xfs', '-q', '-f'], lazy: 'nouuid', copy: 'nouuid' },
  btrfs: { make: ['mkfs.btrfs', '-q', '-f'], lazy: 'commit=600', copy: 'defaults' },
};
export type FileSystem = keyof typeof FILE_SYSTEMS;

const SIZE = '8G';

/** What is missing to make a disk; undefined if nothing is. */
export function diskFault(): string | undefined {
  if (process.getuid?.() !== 0) return 'Disks can be made and mounted by root only.';
  const commands = ['mkfs.xfs', ...Object.values(FILE_SYSTEMS).map(({ make }) => make[0] ?? '')];
  const missing = commands.filter((command) => spawnSync(command, ['-V']).error !== undefined);
  if (missing.length === 0) return undefined;
  return `${missing.join(' and ')} is needed. On Debian: apt-get install e2fsprogs xfsprogs btrfs-progs`;
}

/**
 * A disk whose power can be cut. It is a file on a file system that copies a file in one step, so a copy shows what was on the disk at one
 * moment, without what the operating system had not written yet.
 */
export class Disk {
  readonly path: string;
  /** Where the copy of the last cut is mounted. */
  readonly copyPath: string;
  readonly #directory: string;
  readonly #host: string;
  readonly #fileSystem: (typeof FILE_SYSTEMS)[FileSystem];

  constructor(directory: string, fileSystem: FileSystem) {
    this.#fileSystem = FILE_SYSTEMS[fileSystem];
    this.#directory = directory;
    this.#host = join(directory, 'host');
    this.path = join(directory, 'disk');
    this.copyPath = join(directory, 'copy');
    for (const path of [this.#host, this.path, this.copyPath]) mkdirSync(path);
    makeFile(`${this.#host}.img`, FILE_SYSTEMS.xfs.make);
    run('mount', '-o', 'loop', `${this.#host}.img`, this.#host);
    makeFile(join(this.#host, 'disk.img'), this.#fileSystem.make);
    run('mount', '-o', `loop,${this.#fileSystem.lazy}`, join(this.#host, 'disk.img'), this.path);
    run('sync', '-f', this.path);
  }

  /** The moment of the cut is between the beginning and the end of the call. */
  cut(): void {
    run('cp', '--reflink=always', join(this.#host, 'disk.img'), join(this.#host, 'copy.img'));
    run('mount', '-o', `loop,${this.#fileSystem.copy}`, join(this.#host, 'copy.img'), this.copyPath);
  }

  dropCopy(): void {
    run('umount', this.copyPath);
    rmSync(join(this.#host, 'copy.img'));
  }

  /** Removes the directory with everything in it, even while a process uses it. */
  remove(): void {
    for (const path of [this.copyPath, this.path, this.#host]) spawnSync('umount', ['--lazy', path]);
    rmSync(this.#directory, { recursive: true });
  }
}

function makeFile(path: string, make: readonly string[]): void {
  run('truncate', '-s', SIZE, path);
  run(...(make as [string, ...string[]]), path);
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
