import { benchAccountAttacks } from './accounts.ts';

/** The fleet's ingest while strangers attack, one file of cases for each kind of attack. */
export async function benchAttack(options: { seconds: number }): Promise<void> {
  await benchAccountAttacks(options);
}
