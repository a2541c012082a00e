import { execFileSync } from 'node:child_process';
import { environmentOf, temporaryDirectory } from '../../support/service.ts';

/** The directory of a store that is filled like `npm run demo` fills it: this many decisions over 30 days. */
export function filledStore(rows: number): string {
  const dataDir = temporaryDirectory();
  const args = ['server/demo/fleet.ts', '--rows', String(rows), '--days', '30', '--seed', '1'];
  execFileSync(process.execPath, args, { env: environmentOf(dataDir, {}), stdio: 'inherit' });
  return dataDir;
}
