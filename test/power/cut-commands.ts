import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { gate } from '../support/gate.ts';
import { temporaryDirectory } from '../support/service.ts';
import type { Disk } from './disk.ts';

/**
 * Cuts the power right after a backup, a restore and an export have ended, and uses the results. Resolves with how many records each has.
 * dataDir: a store that no service has open.
 */
export async function cutCommands(disk: Disk, dataDir: string): Promise<Record<string, number>> {
  const name = randomUUID();
  const [written, copied] = [join(disk.path, name), join(disk.copyPath, name)];
  const afterCut = async (use: () => Promise<number>) => {
    disk.cut();
    const count = await use();
    disk.dropCopy();
    return count;
  };
  const restored = temporaryDirectory();
  await gate(dataDir, 'backup', '--to', `${written}-backup`);
  const backup = await afterCut(async () => {
    await gate(restored, 'restore', '--from', `${copied}-backup`);
    return recordsIn(restored);
  });
  await gate(`${written}-restored`, 'restore', '--from', `${written}-backup`);
  const restore = await afterCut(() => recordsIn(`${copied}-restored`));
  await gate(dataDir, 'export', '--to', `${written}-export`);
  const exported = await afterCut(() => importedFrom(`${copied}-export`));
  return { backup, restore, export: exported };
}

async function recordsIn(dataDir: string): Promise<number> {
  const directory = join(temporaryDirectory(), 'export');
  await gate(dataDir, 'export', '--to', directory);
  return importedFrom(directory);
}

async function importedFrom(directory: string): Promise<number> {
  const { imported } = await gate<{ imported: number }>(temporaryDirectory(), 'import', '--from', directory);
  return imported;
}
