import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';

/** Replaces the timeouts of the client too, which imports them from `node:timers`. */
export const fakeTimeouts = {
  enable(): void {
    mock.timers.enable({ apis: ['setTimeout'] });
    syncBuiltinESMExports();
  },
  tick: (ms: number): void => mock.timers.tick(ms),
  reset(): void {
    mock.timers.reset();
    syncBuiltinESMExports();
  },
};
