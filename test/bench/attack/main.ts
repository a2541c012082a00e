import { benchAccountAttacks } from './accounts.ts';
import { benchExportAttacks } from './exports.ts';
import { benchPolicyAttacks } from './policies.ts';
import { benchReplayAttacks } from './replays.ts';
import { benchSocketAttacks } from './sockets.ts';

/** The attacks, one file of cases for each kind. */
const ATTACKS: Record<string, (options: { seconds: number }) => Promise<void>> = {
  policies: benchPolicyAttacks,
  accounts: benchAccountAttacks,
  sockets: benchSocketAttacks,
  exports: benchExportAttacks,
  replays: benchReplayAttacks,
};

/** The fleet's ingest while strangers attack. `only` names one kind of attack. */
export async function benchAttack({ seconds, only }: { seconds: number; only?: string }): Promise<void> {
  for (const [name, bench] of Object.entries(ATTACKS))
    if (only === undefined || only === name) await bench({ seconds });
}
