import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../support/random.ts';
import { spawnService, startTestService } from '../support/service.ts';
import type { Disk } from './disk.ts';

/** Cuts the power during first starts, and counts after how many a service starts on the disk. */
export async function cutFirstStarts(
  disk: Disk,
  { cuts, random }: { cuts: number; random: Random },
): Promise<{ first_starts: number; started_again: number }> {
  let started = 0;
  for (let cut = 0; cut < cuts; cut += 1) {
    const name = `first-${cut}`;
    mkdirSync(join(disk.path, name));
    const child = spawnService({ dataDir: join(disk.path, name), env: {} });
    child.ref();
    const exited = once(child, 'exit');
    await sleep(300 + random.below(1200));
    disk.cut();
    child.kill('SIGKILL');
    await exited;
    const after = await startTestService({ dataDir: join(disk.copyPath, name) }).catch(console.error);
    if (after !== undefined) started += 1;
    await after?.kill();
    disk.dropCopy();
    rmSync(join(disk.path, name), { recursive: true });
  }
  return { first_starts: cuts, started_again: started };
}
