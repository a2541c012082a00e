import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './service.ts';

/** The clock of a service under test: give `env` to its start, then let time pass. */
export type ServiceClock = { env: Record<string, string>; passMs: (ms: number) => void };

export function createServiceClock(): ServiceClock {
  const path = join(temporaryDirectory(), 'clock');
  let aheadMs = 0;
  const passMs = (ms: number) => {
    aheadMs += ms;
    writeFileSync(path, String(aheadMs));
  };
  passMs(0);
  return { env: { GATE_TEST_CLOCK_FILE: path }, passMs };
}
