import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';

/** Also replaces the timeouts of the client, which imports them from `node:timers`. */
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
