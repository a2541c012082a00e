import { setTimeout as sleep } from 'node:timers/promises';
import { gaugesOf, projectOf, tallyText } from './attacker.ts';
import { measureAttacks, type Target } from './measure.ts';

const CALLERS = 400;

/** Exports that nobody reads. The load of the quiet run has left enough records to fill every buffer. */
export function benchExportAttacks({ seconds }: { seconds: number }): Promise<void> {
  return measureAttacks({ [`${CALLERS} exports that nobody reads`]: attack }, { seconds });
}

async function attack(target: Target, seconds: number): Promise<string> {
  const before = (await gaugesOf(target)).rssMb;
  const leaving = new AbortController();
  const path = `/v1/projects/${projectOf(target)}/audit/decisions/export?window=24h`;
  const ask = () =>
    fetch(new URL(path, target.url), { signal: leaving.signal }).then(
      ({ status }) => status,
      () => 'no answer',
    );
  const statuses = await Promise.all(Array.from({ length: CALLERS }, ask));
  await sleep(seconds * 1000);
  const during = (await gaugesOf(target)).rssMb;
  leaving.abort();
  return `${tallyText(statuses)}; RSS ${before} MB before, ${during} MB during`;
}
