import { rmSync } from 'node:fs';
import { startGatehouse } from '../ingest.ts';
import { endProcess, load, type LoadResult, temporaryDirectory } from '../process.ts';

export type Target = { url: URL; key: string; directory: string };

/** Runs for about `seconds` and resolves with its observations, as text for the table. */
type Attack = (target: Target, seconds: number) => Promise<string>;

const FLEET_CONNECTIONS = 32;
/** The attack begins this long before the fleet is measured. */
const LEAD_SECONDS = 2;
const SHARE_MIN = 0.7;
const P99_MS_MAX = 250;

type MeasureOptions = {
  seconds: number;
  env?: Record<string, string>;
  /** Runs before the fleet is measured. */
  prepare?: (target: Target) => Promise<void>;
};

/** Each attack on a separate service: the fleet's ingest without and with the attack, side by side. */
export async function measureAttacks(
  attacks: Record<string, Attack>,
  { seconds, env = {}, prepare }: MeasureOptions,
): Promise<void> {
  console.log(`\nIngest of ${FLEET_CONNECTIONS} connections, quiet and attacked\n`);
  console.log(
    '| attack | quiet/s | attacked/s | share | p99 quiet ms | p99 attacked ms | holds | the attack saw |',
  );
  console.log('|---|--:|--:|--:|--:|--:|---|---|');
  for (const [name, attack] of Object.entries(attacks)) {
    const directory = temporaryDirectory();
    const { child, url, key } = await startGatehouse(directory, env);
    try {
      const fleet = { key, connections: FLEET_CONNECTIONS, seconds };
      await load(url, { ...fleet, seconds: 2 });
      await prepare?.({ url, key, directory });
      const quiet = await load(url, fleet);
      const attacking = attack({ url, key, directory }, seconds + LEAD_SECONDS);
      await new Promise((resolve) => setTimeout(resolve, LEAD_SECONDS * 1000));
      const attacked = await load(url, fleet);
      printRow(name, { quiet, attacked, saw: await attacking });
    } finally {
      await endProcess(child);
      rmSync(directory, { recursive: true, force: true });
    }
  }
}

type Row = { quiet: LoadResult; attacked: LoadResult; saw: string };

function printRow(name: string, { quiet, attacked, saw }: Row): void {
  const share = attacked.perSecond / quiet.perSecond;
  const holds = share >= SHARE_MIN && attacked.p99 < P99_MS_MAX;
  console.log(
    `| ${name} | ${Math.round(quiet.perSecond)} | ${Math.round(attacked.perSecond)} | ${share.toFixed(2)} | ` +
      `${quiet.p99.toFixed(0)} | ${attacked.p99.toFixed(0)} | ${holds ? 'yes' : 'NO'} | ${saw} |`,
  );
}
