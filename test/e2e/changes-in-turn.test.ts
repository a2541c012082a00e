import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { createAgents } from '../../server/agents/create-agents.ts';
import { AlertSettingsStore } from '../../server/alerts/alert-settings.ts';
import { clickhouseUrl } from '../../server/config-values.ts';
import { problemFrom } from '../../server/http/error-handler.ts';
import { RootKeys } from '../../server/keys/root-keys.ts';
import { readSigningKeys } from '../../server/keys/signing-keys.ts';
import { KeyedMutex } from '../../server/keyed-mutex.ts';
import { Members } from '../../server/members/members.ts';
import type { Role } from '../../server/rights.ts';
import { type BoundedStore, createBoundedStore } from '../../server/store/bounded-store.ts';
import { type Connection, connectServer } from '../../server/store/connection.ts';
import { useCleanups } from '../support/cleanups.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';

const ADA = { projectId: 'shop', accountId: 'ada', changedBy: 'owner' };

describe('changes of several services at the same time', () => {
  const { closing } = useCleanups();
  let server: ClickHouseServer;
  before(async () => void (server = await startClickHouse()));
  after(() => server.kill());

  const storeOf = (): BoundedStore =>
    createBoundedStore(
      closing(connectServer(clickhouseUrl(server.url), { settings: {}, silenceMsMax: 5000 })),
      () => Promise.resolve(),
    );
  const partsOf = (store: BoundedStore) => ({ store, mutex: new KeyedMutex(store), now: Date.now });
  /** A store on which something else happens directly after the first insert. */
  const interrupted = (store: BoundedStore, happen: () => Promise<unknown>): BoundedStore => {
    let once: typeof happen | undefined = happen;
    return {
      ...store,
      append: async (row) => {
        await store.append(row);
        const now = once;
        once = undefined;
        await now?.();
      },
    };
  };

  for (const role of [undefined, 'viewer'] satisfies (Role | undefined)[])
    it(`are each made once: an added member is ${role ?? 'removed'} before the first service sees its change`, async () => {
      const other = new Members(partsOf(storeOf()));
      const heldAtAdding: (Role | undefined)[] = [];
      await other.change(ADA, () => undefined);
      const overtaken = interrupted(storeOf(), () => other.change(ADA, () => role));

      const added = await new Members(partsOf(overtaken)).change(ADA, (held) => {
        heldAtAdding.push(held);
        return 'admin';
      });

      expect([added, heldAtAdding]).to.deep.equal([{ before: undefined, role: 'admin' }, [undefined]]);
      expect(await other.roleOf('shop', 'ada')).to.equal(role);
    });

  it('are each made once: a webhook is removed before the first service sees its change', async () => {
    const other = new AlertSettingsStore(partsOf(storeOf()));
    const overtaken = interrupted(storeOf(), () => other.removeWebhook('shop', 'owner'));
    const webhook = { url: 'https://hooks.example.com/', secret: 'whsec_0' };

    const set = await new AlertSettingsStore(partsOf(overtaken)).change('shop', 'owner', () => ({ webhook }));

    expect([set.webhook, (await other.of('shop')).webhook]).to.deep.equal([webhook, undefined]);
  });

  it('are refused as overloaded, and not for an If-Match that they do not have, if ten others precede', async () => {
    const connect = () =>
      closing(connectServer(clickhouseUrl(server.url), { settings: {}, silenceMsMax: 5000 }));
    const signingKey = randomBytes(32).toString('base64');
    const signing = await readSigningKeys({ signingKey, retiredSigningKeys: [], dataDir: '' });
    const saverOn = (connection: Connection) => {
      const shared = { connection, ready: () => Promise.resolve(), isSoleWriter: false, now: Date.now };
      const rootKeys = new RootKeys({ ...shared, signing });
      return createAgents({ ...shared, rootKeys, bundleDaysMax: undefined }).saver;
    };
    const by = { projectId: 'shop', by: 'a key' };
    const [mine, others] = [connect(), saverOn(connect())];
    let saves = 0;
    const late = saverOn({
      ...mine,
      insert: async (rows) => {
        saves += 1;
        await others.register({ name: 'clerk', tools: [{ name: `tool-${saves}` }] }, by);
        await mine.insert(rows);
      },
    });

    const refusal = await late
      .register({ name: 'clerk', tools: [{ name: 'search' }] }, by)
      .catch((error: unknown) => problemFrom(error).code);

    expect([refusal, saves]).to.deep.equal(['overloaded', 10]);
  });
});
