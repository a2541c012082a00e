import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Drill, type DrillClient } from '../../support/drill.ts';
import { type MockServer, startMockServer } from '../../support/mock-server.ts';
import {
  conditionally,
  createSigner,
  publishedAgent,
  serveKeySet,
  signedRecord,
  yamlRecord,
  type Signer,
} from '../../support/platform.ts';

const ROUTE = 'GET /v1/agents/support-bot';
const [V1, V2, V9] = [1, 2, 9].map((version) => publishedAgent({ version }));

/** The answers of the attacker who took over the address: everything public, and a key of their own. */
type Attack = {
  title: string;
  answer: () => Promise<Record<string, unknown>>;
  keys: Signer[];
  forged?: string[];
};

describe('the takeover drill', () => {
  const stateDir = join(mkdtempSync(join(tmpdir(), 'gatehouse-')), 'state');
  let mock: MockServer;
  let [root, stranger]: Signer[] = [];
  before(async () => {
    [mock, root, stranger] = [await startMockServer(), await createSigner(), await createSigner()];
  });
  after(async () => {
    rmSync(stateDir, { recursive: true });
    await mock.close();
  });

  it('shows what clients decide and log while somebody else answers at the address', async () => {
    if (!root || !stranger || !V1 || !V2 || !V9) throw new Error('The drill is not set up');
    const drill = new Drill();
    drill.name(mock.url, 'https://gate.example');
    drill.name(root.kid, 'ROOT');
    drill.name(stranger.kid, 'STRANGER');
    drill.name(stateDir, 'STATE-DIR');
    const options = { agentName: 'support-bot', key: await root.bearerKey('p-1'), baseUrl: mock.url };
    const pinned = { publicKey: root.publicKey };
    const strict = { ...pinned, requireSignature: true, stateDir };
    const fleet = [drill.client('pinned', { ...options, ...pinned }), drill.client('first use', options)];
    const newProcesses = () => [
      drill.client('pinned, new', { ...options, ...pinned }),
      drill.client('first use, new', options),
      drill.client('all three set, new', { ...options, ...strict }),
    ];
    const genuine = await signedRecord(V2, root);
    serveKeySet(mock, [root], []);
    mock.on(ROUTE, conditionally(genuine));
    drill.step('The service itself: version 2, signed by the root key.');
    await eachOf([...fleet, drill.client('all three set', { ...options, ...strict })], 'start');

    const strange = () => signedRecord(V9, stranger as Signer);
    const attacks: Attack[] = [
      {
        title: "The stranger's policy; the key set is the stranger's key.",
        answer: strange,
        keys: [stranger],
      },
      {
        title: "The stranger's policy; a forged succession from the root key.",
        answer: strange,
        keys: [root],
        forged: [await stranger.vouchFor(stranger, { header: { kid: root.kid } })],
      },
      {
        title: 'A policy without its bundle.',
        answer: () => Promise.resolve(yamlRecord(V9)),
        keys: [root],
      },
      {
        title: 'The bundle without its module, beside another policy text.',
        answer: () => Promise.resolve({ ...genuine, ...yamlRecord(V9), bundle_wasm_b64: undefined }),
        keys: [root],
      },
      {
        title: 'An old policy of the root key.',
        answer: () => signedRecord(V1, root as Signer),
        keys: [root],
      },
      {
        title: "The stranger's policy; the stranger's key is listed beside the root key.",
        answer: strange,
        keys: [root, stranger],
      },
    ];
    for (const { title, answer, keys, forged = [] } of attacks) {
      serveKeySet(mock, keys, forged);
      mock.on(ROUTE, { json: await answer(), headers: { ETag: '"other"' } });
      drill.step(title);
      await eachOf(fleet, 'refresh');
      await eachOf(newProcesses(), 'start');
    }

    expect(fleet.map((client) => client.agentVersionId())).to.deep.equal(['v-2', 'v-2']);
    drill.expectDocumented('Takeover');
  });
});

async function eachOf(clients: DrillClient[], work: 'start' | 'refresh'): Promise<void> {
  for (const client of clients) await client[work]();
}
