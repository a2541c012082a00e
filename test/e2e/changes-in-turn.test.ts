import { expect } from 'chai';
import { AlertSettingsStore } from '../../server/alerts/alert-settings.ts';
import { clickhouseUrl } from '../../server/config-values.ts';
import { KeyedMutex } from '../../server/keyed-mutex.ts';
import { Members } from '../../server/members/members.ts';
import type { Role } from '../../server/rights.ts';
import { type BoundedStore, createBoundedStore } from '../../server/store/bounded-store.ts';
import { connectServer } from '../../server/store/connection.ts';
import { useCleanups } from '../support/cleanups.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';

const ADA = { projectId: 'shop', accountId: 'ada', changedBy: 'owner' };

describe('a change that another service changes again before it is confirmed', () => {
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
    it(`is made once: an added member is then ${role ?? 'removed'}`, async () => {
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

  it('is made once: a webhook is then removed', async () => {
    const other = new AlertSettingsStore(partsOf(storeOf()));
    const overtaken = interrupted(storeOf(), () => other.removeWebhook('shop', 'owner'));
    const webhook = { url: 'https://hooks.example.com/', secret: 'whsec_0' };

    const set = await new AlertSettingsStore(partsOf(overtaken)).change('shop', 'owner', () => ({ webhook }));

    expect([set.webhook, (await other.of('shop')).webhook]).to.deep.equal([webhook, undefined]);
  });
});
