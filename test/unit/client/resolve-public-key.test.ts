import { expect } from 'chai';
import { createSigner, serveKeys } from '../../support/platform.ts';
import { KEYS_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('resolve: public key precedence', () => {
  const world = forEachTest(startPolicyWorld);
  let { mock, signer, key, resolve, faultOf } = world;
  beforeEach(() => void ({ mock, signer, key, resolve, faultOf } = world));

  it('explicit, then GATE_PUBLIC_KEY, then the key set', async () => {
    const stranger = await createSigner();
    serveKeys(mock, stranger);

    await resolve({ key, publicKey: signer.publicKey }, { GATE_PUBLIC_KEY: stranger.publicKey });
    await resolve({ key }, { GATE_PUBLIC_KEY: signer.publicKey });
    expect(mock.seen(KEYS_ROUTE)).to.deep.equal([]);
    expect((await faultOf({ key })).code).to.equal('signing_key_untrusted');
  });

  it('a pinned key may be base64, a JWK object or a JWK as text', async () => {
    const { publicKey: base64, jwk } = signer;
    for (const publicKey of [base64, ` ${base64}\n`, jwk, JSON.stringify(jwk)]) {
      expect((await resolve({ key, publicKey })).origin).to.equal('bundle');
    }
    const short = Buffer.alloc(31).toString('base64url');
    const others = ['short', short, '{', '{"kty":"RSA"}', { kty: 'OKP' }];
    for (const publicKey of [
      ...others,
      { ...jwk, kty: 'EC' },
      { ...jwk, crv: 'X25519' },
      { ...jwk, x: short },
    ]) {
      expect((await faultOf({ key, publicKey })).code).to.equal('public_key_invalid');
    }
  });

  it('the key set is fetched on first use and cached', async () => {
    await resolve({ key });
    await resolve({ key });

    expect(mock.seen(KEYS_ROUTE)).to.have.length(1);
  });

  it('throws if the key set cannot be fetched, and does not cache that', async () => {
    const replies = [
      ['key_set_unavailable', { status: 503, json: { keys: [signer.jwk] } }],
      ['key_set_invalid', { text: 'no json' }],
      ['key_set_invalid', { json: [signer.jwk] }],
      ['key_set_invalid', { json: null }],
      ['key_set_invalid', { json: { keys: 1 } }],
      ['key_set_invalid', { json: { keys: [] } }],
      ['unreachable', { fault: 'reset' }],
    ] as const;
    for (const [code, reply] of replies) {
      mock.on(KEYS_ROUTE, reply);
      expect((await faultOf({ key })).code).to.equal(code);
    }
    serveKeys(mock, signer);
    expect((await resolve({ key })).origin).to.equal('bundle');
  });

  it('ignores keys of other kinds in the set', async () => {
    mock.on(KEYS_ROUTE, { json: { keys: [null, 1, { kty: 'RSA', kid: 'r' }, { kid: 'x' }, signer.jwk] } });

    expect((await resolve({ key })).origin).to.equal('bundle');
  });
});
