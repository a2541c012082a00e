import { loadGateway, type LoadResult, type Victim } from '../support/gateway-load.ts';

const VICTIMS = ['server', 'client', 'gateway'] as const satisfies Victim[];

/** What the MCP gateway adds to a call of a server on standard input and output, and what remains after a process is killed. */
export async function benchGateway({ calls }: { calls: number }): Promise<void> {
  for (const atOnce of [1, 10]) {
    const direct = await loadGateway({ calls, atOnce, isGoverned: false });
    const governed = await loadGateway({ calls, atOnce });
    for (const [name, { client }] of [
      ['direct', direct],
      ['through the gateway', governed],
    ] as const)
      console.log(
        `${calls} calls, ${atOnce} at once, ${name}: p50 ${ms(client.p50)} ms, p99 ${ms(client.p99)} ms, ${client.wrong?.length} wrong answers`,
      );
    console.log(`the gateway adds ${ms((governed.client.p99 ?? 0) - (direct.client.p99 ?? 0))} ms at p99`);
  }
  print('nobody is killed', await loadGateway({ calls }));
  for (const victim of VICTIMS) print(`the ${victim} is killed`, await loadGateway({ calls, victim }));
}

function print(what: string, { ran, recorded, closed }: LoadResult): void {
  const denied = ran.filter((call) => call.startsWith('write')).length;
  const known = new Set(recorded);
  const unrecorded = ran.filter((call) => !known.has(`${call} allow`)).length;
  const totals = closed ? `${closed.emitted} emitted` : 'no totals reported: unclosed';
  console.log(
    `${what.padEnd(22)} ${ran.length} ran, ${denied} of them denied; ${known.size} recorded, ${totals}; ${unrecorded} ran and are not recorded`,
  );
}

function ms(value = 0): string {
  return value.toFixed(2);
}
