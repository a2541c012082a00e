import { configure, flush, govern, shutdown, type PolicyEngine } from '../../client/index.ts';
import { parsePublicKey } from '../../client/policy/public-key.ts';
import { createResolvePolicy } from '../../client/policy/resolve-policy.ts';
import { verifyBundle } from '../../client/policy/verify-bundle.ts';
import { startMockServer, type MockServer } from '../support/mock-server.ts';
import {
  conditionally,
  createSigner,
  publishedAgent,
  serveKeys,
  signedRecord,
  type SignedRecord,
  type Signer,
} from '../support/platform.ts';

const CALLS = 20_000;
const BATCH = 32;
const REQUESTS = 300;

type Measured = { name: string; median: number; p99: number };

type World = { mock: MockServer; signer: Signer; key: string; record: SignedRecord };

const QUIET = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const ARGUMENTS = { query: 'where is my parcel', limit: 10, filter: { status: ['late', 'lost'] } };

/** What governing costs: a tool call with and without it, a refresh that finds nothing new, a verification. */
export async function benchClient(): Promise<void> {
  const world = await createWorld();
  const rows = [
    await measureBare(),
    ...(await measureGoverned(world)),
    await measureRefresh(world),
    await measureVerify(world),
  ];
  await world.mock.close();
  for (const { name, median, p99 } of rows) {
    console.log(
      `${name.padEnd(52)} median ${median.toFixed(1).padStart(8)} µs   p99 ${p99.toFixed(1).padStart(8)} µs`,
    );
  }
}

async function createWorld(): Promise<World> {
  const mock = await startMockServer();
  const signer = await createSigner();
  const record = await signedRecord(publishedAgent(), signer);
  serveKeys(mock, signer);
  mock.on('GET /v1/agents/support-bot', conditionally(record));
  mock.on('POST /v1/audit/decisions', { status: 202 });
  return { mock, signer, key: await signer.bearerKey('p-1'), record };
}

async function measureBare(): Promise<Measured> {
  const search = async (args: typeof ARGUMENTS): Promise<string> => args.query;
  return measured('tool call, not governed', CALLS, () => search(ARGUMENTS));
}

async function measureGoverned({ mock, key }: World): Promise<Measured[]> {
  const options = { key, baseUrl: mock.url, logger: QUIET, bindPolicy: true } as const;
  const agent = {
    name: 'support-bot',
    tools: { search: (args: typeof ARGUMENTS) => args.query },
    run: ({ tools }: { tools: Record<string, (args?: unknown) => unknown> }, name: string) =>
      measured(name, CALLS, () => tools.search?.(ARGUMENTS), pause),
  };
  const silent = await govern(agent, options);
  const decided = await silent.run('tool call, decided');
  const emitting = await govern(agent, { ...options, apiKey: 'k' });
  const emitted = await emitting.run('tool call, decided and emitted');
  const { dropped } = configure({ apiKey: 'k', baseUrl: mock.url, logger: QUIET }).stats();
  if (dropped > 0) throw new Error(`${dropped} events were dropped: dropping is cheaper than sending`);
  await shutdown();
  return [decided, emitted, decideAlone(silent.source.policy)];
}

/** Between batches, the events of the last one are sent, so that every measured call gets a slot. */
async function pause(call: number): Promise<void> {
  if (call % BATCH === 0) await flush();
}

function decideAlone(policy: PolicyEngine): Measured {
  const times: number[] = [];
  for (let i = 0; i < CALLS; i += 1) {
    const startedAt = performance.now();
    policy.decide({ tool: 'search', arguments: ARGUMENTS });
    times.push(performance.now() - startedAt);
  }
  return summary('decide alone (module)', times);
}

async function measureRefresh({ mock, key }: World): Promise<Measured> {
  const resolvePolicy = createResolvePolicy({ now: Date.now });
  const source = await resolvePolicy({ agentName: 'support-bot', key, baseUrl: mock.url, logger: QUIET });
  return measured('refresh, answered 304', REQUESTS, () => source.refresh());
}

async function measureVerify({ record, signer }: World): Promise<Measured> {
  const bundle = {
    record: record as unknown as Parameters<typeof verifyBundle>[0]['record'],
    publicKey: parsePublicKey(signer.publicKey),
    agentName: 'support-bot',
    projectId: 'p-1',
  };
  return measured('verify a bundle', REQUESTS, () => verifyBundle(bundle));
}

async function measured(
  name: string,
  calls: number,
  run: () => unknown,
  between?: (call: number) => Promise<void>,
): Promise<Measured> {
  const times: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    if (between) await between(call);
    const startedAt = performance.now();
    await run();
    times.push(performance.now() - startedAt);
  }
  return summary(name, times);
}

/** Without the first tenth, which warms up. */
function summary(name: string, times: number[]): Measured {
  const sorted = times.slice(times.length / 10).sort((a, b) => a - b);
  const at = (share: number): number => (sorted[Math.floor(sorted.length * share)] ?? 0) * 1000;
  return { name, median: at(0.5), p99: at(0.99) };
}
