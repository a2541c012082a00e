import { decodeJwt } from 'jose';
import type { RunningService } from '../../support/service.ts';
import { newPerson } from '../../support/accounts.ts';
import { issue } from '../../support/keys.ts';
import type { Target } from './measure.ts';

/** The project of a bearer key. */
export function projectOf({ key }: Target): string {
  return String(decodeJwt(key).sub);
}

/** Anyone may register: an account with a project and a key that has every scope. */
export async function newAttacker({ url, directory }: Target): Promise<RunningService> {
  const service = { url: url.origin, dataDir: directory, pid: 0, project_id: '', key: '', output: () => '' };
  const owner = await newPerson(service);
  const scope = 'emit_audit read_audit edit_policy';
  const { key } = await issue(service, owner, { scope });
  return { ...service, key, project_id: owner.project.id };
}

export type Gauges = { rssMb: number; files: number };

/** Resident memory and open files of the service, according to its metrics. */
export async function gaugesOf({ url }: Target): Promise<Gauges> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
  return {
    rssMb: Math.round(value('process_resident_memory_bytes') / 2 ** 20),
    files: value('process_open_fds'),
  };
}

/** How often each text came, as a list in words. */
export function tallyText(texts: (string | number)[]): string {
  const counts = new Map<string | number, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return Array.from(counts, ([text, count]) => `${text}: ${count}`).join(', ');
}

/** Runs the work of this many callers, each repeatedly, for this long. */
export async function inLoops(
  count: number,
  seconds: number,
  work: (caller: number) => Promise<void>,
): Promise<void> {
  const endMs = performance.now() + seconds * 1000;
  const loop = async (caller: number) => {
    while (performance.now() < endMs) await work(caller);
  };
  await Promise.all(Array.from({ length: count }, (_, caller) => loop(caller)));
}
