import { bindPolicy, configure, flush, shutdown, type Gate } from '../../client/index.ts';
import { startAuditServer } from '../support/emission.ts';

const POLICY = 'version: 1\ntools: [search]\nroles: { "*": { allow: [search] } }\nrules: []\n';
const QUIET = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

type Scene = (gate: Gate) => Promise<void>;

const SCENES: Record<string, Scene> = {
  '200 awaited calls of an instant tool in one run': async (client) => {
    const run = await (await bindPolicy({ agentName: 'a', policy: POLICY, client })).startRun();
    for (let call = 0; call < 200; call += 1) await run.call('search', { call }, () => 'found');
  },
  '100 concurrent runs of 5 awaited calls': async (client) => {
    const binding = await bindPolicy({ agentName: 'a', policy: POLICY, client });
    const runs = Array.from({ length: 100 }, async () => {
      const run = await binding.startRun();
      for (let call = 0; call < 5; call += 1) await run.call('search', { call }, () => 'found');
    });
    await Promise.all(runs);
  },
  '10,000 emits in a loop': async (gate) => {
    for (let n = 0; n < 10_000; n += 1)
      gate.emit({ agent_name: 'a', tool_name: 'search', outcome: 'allow', arguments: { n } });
  },
};

/** How many events arrive from programs that emit faster than single posts are sent, without and with `batch`. */
export async function benchDrops(): Promise<void> {
  for (const [name, scene] of Object.entries(SCENES)) {
    const [single, batched] = [await recorded(scene, false), await recorded(scene, true)];
    console.log(`${name.padEnd(50)} recorded ${single} without batch, ${batched} with it`);
  }
}

async function recorded(scene: Scene, batch: boolean): Promise<string> {
  const mock = await startAuditServer();
  const gate = configure({ apiKey: 'k', baseUrl: mock.url, logger: QUIET, batch });
  await scene(gate);
  await flush();
  const { sent, dropped, failed } = gate.stats();
  await shutdown();
  await mock.close();
  return `${sent} of ${sent + dropped + failed}`;
}
