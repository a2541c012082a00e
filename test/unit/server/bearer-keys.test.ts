import { mock } from 'node:test';
import { expect } from 'chai';
import { decodeJwt, SignJWT } from 'jose';
import { BearerKeys } from '../../../server/keys/bearer-keys.ts';
import { KeyRegistry } from '../../../server/keys/key-registry.ts';
import { RootKeys } from '../../../server/keys/root-keys.ts';
import { readSigningKeys, type SigningKeys } from '../../../server/keys/signing-keys.ts';
import { REVOCATION_AGE_MS_MAX, VERIFIED_KEYS_MAX } from '../../../server/limits.ts';
import type { Connection, QueryParams } from '../../../server/store/connection.ts';
import type { Store } from '../../../server/store/store.ts';
import { openStore } from '../../support/engine.ts';
import { temporaryDirectory } from '../../support/service.ts';

const PROJECT = 'project';

describe('BearerKeys, on the embedded engine', () => {
  let store: Store;
  let signing: SigningKeys;
  before(async () => {
    const dataDir = temporaryDirectory();
    store = await openStore(dataDir);
    signing = await readSigningKeys({ signingKey: undefined, retiredSigningKeys: [], dataDir });
  });
  after(() => store.close());

  function open(connection: Connection = store.accounts) {
    const registry = new KeyRegistry({
      connection,
      ready: store.ready,
      isSoleWriter: false,
      now: Date.now,
    });
    const rootKeys = new RootKeys({
      signing,
      connection,
      ready: store.ready,
      isSoleWriter: true,
      now: Date.now,
    });
    return { registry, keys: new BearerKeys(rootKeys, registry, Date.now) };
  }

  it(`keeps ${VERIFIED_KEYS_MAX} verified keys, and verifies an evicted key again`, async () => {
    const { keys } = open();
    const { key, key_id } = await keys.issue(PROJECT);
    const texts = await Promise.all(
      Array.from({ length: VERIFIED_KEYS_MAX + 1 }, (_, n) =>
        new SignJWT({ ...decodeJwt(key), n })
          .setProtectedHeader({ alg: 'EdDSA', kid: signing.kid })
          .sign(signing.privateKey),
      ),
    );
    const [oldest = '', second = ''] = texts;

    for (const text of texts) await keys.verify(text);

    expect(keys.peek(oldest)).to.equal(undefined);
    expect(keys.peek(second)).to.include({ project_id: PROJECT, key_id });
    expect(keys.peek(texts.at(-1) ?? '')).to.include({ project_id: PROJECT, key_id });
    expect(await keys.verify(oldest)).to.include({ project_id: PROJECT, key_id });
  });

  it('keeps a key revoked when a read that began before the revocation ends after it', async () => {
    let answer: (() => void) | undefined;
    const connection: Connection = {
      ...store.accounts,
      query: async <Row>(...asked: Parameters<Connection['query']>) => {
        const rows = await store.accounts.query<Row>(...asked);
        await new Promise<void>((resolve) => (answer = resolve));
        return rows;
      },
    };
    const { registry, keys } = open(connection);
    const { key, ...record } = await open().keys.issue(PROJECT);
    const reading = registry.find(record.key_id);
    while (answer === undefined) await new Promise(setImmediate);

    await registry.write({ ...record, revoked_at: new Date().toISOString() });
    answer();
    await reading;

    expect(registry.peek(record.key_id)).to.deep.equal({ project_id: PROJECT, isRevoked: true });
    expect(keys.peek(key)).to.equal(undefined);
  });

  it('is not known from a read of more than 4 s ago, whatever the clock says', async () => {
    let passedMs = 0;
    const passed = mock.method(performance, 'now', () => passedMs);
    const { registry } = open();
    const { key_id } = await open().keys.issue(PROJECT);
    await registry.find(key_id);

    const known = [0, REVOCATION_AGE_MS_MAX, 1].map((ms) => {
      passedMs += ms;
      return registry.peek(key_id) !== undefined;
    });
    passed.mock.restore();

    expect(known).to.deep.equal([true, true, false]);
  });

  it('reads many keys page by page, and goes on after a page that failed', async () => {
    await store.accounts.command(
      `INSERT INTO api_keys (key_id, project_id, updated_at)
       SELECT toString(generateUUIDv4()), 'other', now64(3) FROM numbers(12000)`,
    );
    const { key_id } = await open().keys.issue(PROJECT);
    const asked: unknown[] = [];
    const connection: Connection = {
      ...store.accounts,
      query: <Row>(text: string, params: QueryParams = {}) => {
        asked.push(params['after']);
        return asked.length === 2
          ? Promise.reject(new Error('away'))
          : store.accounts.query<Row>(text, params);
      },
    };
    const { registry } = open(connection);

    const failed = await registry.find(key_id).catch((error: Error) => error.message);
    const found = await registry.find(key_id);

    expect(failed).to.equal('away');
    expect(found).to.deep.equal({ project_id: PROJECT, isRevoked: false });
    const [first, second, again, third] = asked;
    expect(asked).to.deep.equal([first, second, again, third]);
    expect([first, again]).to.deep.equal(['', second]);
  });
});
