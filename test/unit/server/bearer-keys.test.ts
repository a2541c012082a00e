import { expect } from 'chai';
import { decodeJwt, SignJWT } from 'jose';
import { readConfig } from '../../../server/config.ts';
import { BearerKeys } from '../../../server/keys/bearer-keys.ts';
import { KeyRegistry } from '../../../server/keys/key-registry.ts';
import { RootKeys } from '../../../server/keys/root-keys.ts';
import { readSigningKeys, type SigningKeys } from '../../../server/keys/signing-keys.ts';
import { VERIFIED_KEYS_MAX } from '../../../server/limits.ts';
import { createLogger } from '../../../server/logger.ts';
import type { Connection } from '../../../server/store/connection.ts';
import { createStore, type Store } from '../../../server/store/store.ts';
import { temporaryDirectory } from '../../support/service.ts';

const PROJECT = 'project';

describe('BearerKeys, on the embedded engine', () => {
  let store: Store;
  let signing: SigningKeys;
  before(async () => {
    const dataDir = temporaryDirectory();
    store = createStore(readConfig({ GATE_DATA_DIR: dataDir }), createLogger('silent'));
    await store.ready();
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
    const reading = registry.list(PROJECT);
    while (answer === undefined) await new Promise(setImmediate);

    await registry.write({ ...record, revoked_at: new Date().toISOString() });
    answer();
    await reading;

    expect(registry.peek(record.key_id)?.revoked_at).to.be.a('string');
    expect(keys.peek(key)).to.equal(undefined);
  });
});
