import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { createAgents } from '../../../server/agents/create-agents.ts';
import { RootKeys } from '../../../server/keys/root-keys.ts';
import { readSigningKeys } from '../../../server/keys/signing-keys.ts';
import type { Connection } from '../../../server/store/connection.ts';
import type { Store } from '../../../server/store/store.ts';
import { openStore } from '../../support/engine.ts';

describe('AgentSaver, on the embedded engine', () => {
  let store: Store;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  it('answers equal registrations at the same time with the statements of one, as new only once', async () => {
    let statements = 0;
    const connection: Connection = {
      ...store.lookups,
      query: (...statement) => {
        statements += 1;
        return store.lookups.query(...statement);
      },
    };
    const shared = { connection, ready: store.ready, isSoleWriter: true, now: Date.now };
    const signingKey = randomBytes(32).toString('base64');
    const signing = await readSigningKeys({ signingKey, retiredSigningKeys: [], dataDir: '/nowhere' });
    const rootKeys = new RootKeys({ ...shared, signing });
    const { saver } = createAgents({ ...shared, rootKeys, bundleDaysMax: undefined });
    const register = (name: string) => saver.register({ name, tools: [] }, { projectId: 'p', by: 'test' });

    await register('alone');
    const ofOne = statements;
    const crowd = await Promise.all(Array.from({ length: 20 }, () => register('crowd')));
    const later = await register('crowd');

    expect(statements).to.equal(2 * ofOne + 1);
    expect(crowd.map(({ created }) => created)).to.deep.equal([true, ...Array<boolean>(19).fill(false)]);
    expect(new Set([...crowd, later].map(({ version }) => version.agent_version_id)).size).to.equal(1);
    expect(later).to.include({ created: false, isNew: false });
  });
});
