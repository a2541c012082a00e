// make power-check: cuts the power of a disk, and looks for what was acknowledged before. Needs root, loop devices, and Debian's
// xfsprogs and btrfs-progs. ARGS="--cuts 10 --filesystem btrfs --seed 1"
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../support/random.ts';
import { cutCommands } from './cut-commands.ts';
import { cutFirstStarts } from './cut-first-starts.ts';
import { type Cut, cutUnderLoad } from './cut-under-load.ts';
import { Disk, diskFault, FILE_SYSTEMS, type FileSystem } from './disk.ts';

const { values } = parseArgs({
  options: {
    cuts: { type: 'string', default: '5' },
    filesystem: { type: 'string', multiple: true, default: Object.keys(FILE_SYSTEMS) },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const fault = diskFault();
if (fault !== undefined) {
  console.error(fault);
  process.exit(1);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

let faults = 0;
for (const fileSystem of values.filesystem) {
  if (!(fileSystem in FILE_SYSTEMS))
    throw new Error(
      `There is no disk with ${fileSystem}, only with ${Object.keys(FILE_SYSTEMS).join(', ')}.`,
    );
  const disk = new Disk(mkdtempSync(join(tmpdir(), 'gatehouse-power-')), fileSystem as FileSystem);
  process.once('exit', () => disk.remove());
  const dataDir = join(disk.path, 'data');
  const random = new Random(Number(values.seed));
  const starts = await cutFirstStarts(disk, { cuts: Number(values.cuts), random });
  report(`${fileSystem}, during a first start`, starts, starts.started_again === starts.first_starts);
  const onCut = (cut: Cut) => report(`${fileSystem}, under load`, cut, isWhole(cut));
  await cutUnderLoad(disk, { dataDir, random, cuts: Number(values.cuts), onCut });
  const counts = await cutCommands(disk, dataDir);
  report(`${fileSystem}, after a command`, counts, new Set(Object.values(counts)).size === 1);
}
process.exit(faults === 0 ? 0 : 1);

function report(where: string, figures: object, isRight: boolean): void {
  if (!isRight) faults += 1;
  console.log(`${isRight ? 'whole' : 'LOST '}  ${where}: ${JSON.stringify(figures)}`);
}

function isWhole({ lost, altered, agents_lost, keys_lost, files_damaged, log_exit_code }: Cut): boolean {
  return lost + altered + agents_lost === 0 && !keys_lost && !files_damaged && log_exit_code === 0;
}
