import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { mock } from 'node:test';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RootKeys } from '../../../server/keys/root-keys.ts';
import { readSigningKeys, type SigningKeys } from '../../../server/keys/signing-keys.ts';
import { ACKNOWLEDGEMENT, SUCCESSION, vouch } from '../../../server/keys/successions.ts';
import { ROOT_KEYS_AGE_MS_MAX } from '../../../server/limits.ts';
import type { Store } from '../../../server/store/store.ts';
import { openStore } from '../../support/engine.ts';
import { temporaryDirectory } from '../../support/service.ts';

const makeKey = (retired: SigningKeys[] = []) =>
  readSigningKeys({
    signingKey: randomBytes(32).toString('base64'),
    retiredSigningKeys: retired.map(({ jwk }) => jwk.x),
    dataDir: '/nowhere',
  });

describe('RootKeys, on the embedded engine', () => {
  let store: Store;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  const open = (signing: SigningKeys, now = Date.now, { isSoleWriter = true } = {}) =>
    new RootKeys({ signing, connection: store.lookups, ready: store.ready, isSoleWriter, now });
  const kidsOf = async (signing: SigningKeys) => {
    const { keySet } = await open(signing).keySet();
    return { kids: keySet.keys.map(({ kid }) => kid), successions: keySet.successions.length };
  };
  /** A row as an attacker with write access to the store would write it. */
  const insert = (values: {
    kid: string;
    previous_kid: string;
    succession: string;
    acknowledgement: string;
  }) => {
    const row = { ...values, created_at: '2026-01-01 00:00:00.000', version: 0 };
    const lines = [JSON.stringify(Object.values(row))];
    const columns = Object.keys(row);
    return store.lookups.insert({ table: 'root_key_successions', columns, lines, token: '' });
  };

  it('publishes earlier and later keys of a chain of rotations, whichever of them signs', async () => {
    const [a, b, c] = [await makeKey(), await makeKey(), await makeKey()];
    await open(a).recordRotation(b);
    await open(b).recordRotation(c);

    expect(await kidsOf(a)).to.deep.equal({ kids: [a.kid, b.kid, c.kid], successions: 2 });
    expect(await kidsOf(b)).to.deep.equal({ kids: [b.kid, a.kid, c.kid], successions: 2 });
    expect(await kidsOf(c)).to.deep.equal({ kids: [c.kid, b.kid, a.kid], successions: 2 });
    expect(await open(a).successors()).to.deep.equal([b.kid]);
    expect([await open(a).isSuccessor(c.kid), await open(c).isSuccessor(a.kid)]).to.deep.equal([true, false]);
    expect((await open(c).find(a.kid))?.export({ format: 'jwk' }).x).to.equal(a.jwk.x);
    expect(await open(c).find('unknown')).to.equal(undefined);
  });

  it('follows a chain whose later rotations appear to be earlier', async () => {
    const keys = [await makeKey(), await makeKey(), await makeKey(), await makeKey()] as const;
    for (const [index, next] of keys.slice(1).entries())
      await open(keys[index] as SigningKeys, () => Date.now() - index * 60_000).recordRotation(next);
    const kids = keys.map(({ kid }) => kid);

    for (const key of keys) {
      const known = await kidsOf(key);
      expect(known.kids).to.have.members(kids);
      expect(known.successions).to.equal(3);
    }
  });

  it('publishes the keys before a retired key of the configuration', async () => {
    const [a, b] = [await makeKey(), await makeKey()];
    await open(a).recordRotation(b);
    const byHand = await makeKey([b]);

    expect(await kidsOf(byHand)).to.deep.equal({ kids: [byHand.kid, b.kid, a.kid], successions: 1 });
  });

  it('trusts no row of the store that the root key did not sign', async () => {
    const [root, stranger] = [await makeKey(), await makeKey()];
    const nowMs = Date.now();
    const succession = (by: SigningKeys, to: SigningKeys) => vouch(by, to.jwk, { typ: SUCCESSION, nowMs });
    const acknowledgement = (by: SigningKeys, to: SigningKeys) =>
      vouch(by, to.jwk, { typ: ACKNOWLEDGEMENT, nowMs });
    const [after, before] = [
      { kid: stranger.kid, previous_kid: root.kid },
      { kid: root.kid, previous_kid: stranger.kid },
    ];
    const named = { ...stranger, kid: root.kid };
    await insert({ ...after, succession: await succession(named, stranger), acknowledgement: 'no jws' });
    await insert({ ...after, succession: await succession(root, root), acknowledgement: '' });
    await insert({ ...after, succession: await acknowledgement(root, stranger), acknowledgement: '' });
    await insert({
      ...before,
      succession: await succession(stranger, root),
      acknowledgement: await acknowledgement(named, stranger),
    });
    await insert({ ...before, succession: '', acknowledgement: await succession(root, stranger) });
    // The root key vouched for another key than the row says.
    await insert({
      ...before,
      succession: '',
      acknowledgement: await acknowledgement(root, await makeKey()),
    });

    expect(await kidsOf(root)).to.deep.equal({ kids: [root.kid], successions: 0 });
  });

  it('sees the rotation of another process a second later, whatever the clock shows', async () => {
    const [a, b] = [await makeKey(), await makeKey()];
    let passedMs = 0;
    const passed = mock.method(performance, 'now', () => passedMs);
    const keys = open(a, Date.now, { isSoleWriter: false });
    const before = await keys.isSuccessor(b.kid);

    await open(a).recordRotation(b);
    passedMs += ROOT_KEYS_AGE_MS_MAX + 1;
    const after = await keys.isSuccessor(b.kid);
    passed.mock.restore();

    expect([before, after]).to.deep.equal([false, true]);
  });

  it('forgets a key, and with it the keys before it', async () => {
    const [a, b, c] = [await makeKey(), await makeKey(), await makeKey()];
    await open(a).recordRotation(b);
    await open(b).recordRotation(c);

    expect(await open(c).forget(b.kid)).to.equal(2);
    expect(await kidsOf(c)).to.deep.equal({ kids: [c.kid], successions: 0 });
    expect(await open(c).forget('unknown')).to.equal(0);
  });

  it('is foreign to a store whose bundles none of its keys signed', async () => {
    const [a, b, c] = [await makeKey(), await makeKey(), await makeKey()];
    const signed = (kid: string) => {
      const columns = ['project_id', 'agent_name', 'version', 'created_at', 'bundle_manifest'];
      const row = ['p', kid, 1, '2026-01-01 00:00:00.000', kid === '' ? '{}' : JSON.stringify({ kid })];
      return store.lookups.insert({
        table: 'agent_versions',
        columns,
        lines: [JSON.stringify(row)],
        token: '',
      });
    };
    const foreign = () => Promise.all([a, b, c].map((key) => open(key).isForeign()));
    await open(a).recordRotation(b);
    await signed('');
    const unsigned = await foreign();

    await signed(a.kid);
    const signedByFirst = await foreign();
    await signed(c.kid);

    expect([unsigned, signedByFirst, await foreign()]).to.deep.equal([
      [false, false, false],
      [false, false, true],
      [false, false, false],
    ]);
  });

  it('says which root keys were forgotten: not the one that lost its successor', async () => {
    const [a, b, c, lost] = [await makeKey(), await makeKey(), await makeKey(), await makeKey()];
    const forgotten = () => Promise.all([a, b, c].map((key) => open(key).isForgotten()));
    await open(a).recordRotation(b);
    await open(b).recordRotation(c);
    await open(c).recordRotation(lost);
    const before = await forgotten();

    await open(c).forget(lost.kid);
    const afterLoss = await forgotten();
    await open(c).forget(b.kid);

    expect([before, afterLoss]).to.deep.equal([
      [false, false, false],
      [false, false, false],
    ]);
    expect(await forgotten()).to.deep.equal([true, true, false]);
  });
});

describe('the root key in its file', () => {
  const read = (dataDir: string) =>
    readSigningKeys({ signingKey: undefined, retiredSigningKeys: [], dataDir });

  it('is created once, and no other file is left', async () => {
    const dataDir = temporaryDirectory();

    const keys = await Promise.all(Array.from({ length: 8 }, () => read(dataDir)));

    expect(new Set(keys.map(({ kid }) => kid)).size).to.equal(1);
    expect(readdirSync(dataDir)).to.deep.equal(['signing-key.pem']);
  });

  for (const { what, make, fault } of [
    {
      what: 'is damaged',
      make: (path: string) => writeFileSync(path, ''),
      fault: (path: string) => `The key in ${path} cannot be read; it must be an Ed25519 key in PKCS#8 PEM`,
    },
    {
      what: 'cannot be opened',
      make: (path: string) => mkdirSync(path),
      fault: (path: string) => `The key file ${path} cannot be read (EISDIR)`,
    },
  ])
    it(`is named when it ${what}`, async () => {
      const dataDir = temporaryDirectory();
      const path = join(dataDir, 'signing-key.pem');
      make(path);

      const error = await read(dataDir).catch((reason: unknown) => reason);

      expect(String(error)).to.equal(`ConfigError: The configuration is not valid:\n  - ${fault(path)}`);
    });
});
