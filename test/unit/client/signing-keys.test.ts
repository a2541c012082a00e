import { expect } from 'chai';
import {
  conditionally,
  createSigner,
  policyYaml,
  publishedAgent,
  serveKeys,
  serveKeySet,
  signedRecord,
  type Signer,
} from '../../support/platform.ts';
import { AGENT_ROUTE, KEYS_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('the signing keys that a client trusts', () => {
  const world = forEachTest(startPolicyWorld);
  let { mock, signer, key, v1, logger, resolveByKey, faultOf } = world;
  beforeEach(() => void ({ mock, signer, key, v1, logger, resolveByKey, faultOf } = world));

  /** The service serves version 2, signed by this key. */
  async function serveSignedBy(by: Signer): Promise<void> {
    const policy_yaml = policyYaml({ allow: ['search', 'write'] });
    const agent = publishedAgent({ version: 2, policy_yaml });
    mock.on(AGENT_ROUTE, conditionally(await signedRecord(agent, by)));
  }

  const ways: [string, () => Record<string, string>][] = [
    ['trusted on first use', () => ({})],
    ['pinned', () => ({ publicKey: signer.publicKey })],
  ];
  for (const [way, options] of ways) {
    describe(`with a key that was ${way}`, () => {
      it('follows a chain of successions to a new key, and logs the change once', async () => {
        const [next, last] = [await createSigner(), await createSigner()];
        const source = await resolveByKey(options());
        const chain = [await next.vouchFor(last), 'no.jws', await signer.vouchFor(next)];
        serveKeySet(mock, [last, next, signer], chain);
        await serveSignedBy(last);
        await source.refresh();
        await source.refresh();
        await resolveByKey(options());

        expect(source.agentVersionId).to.equal('v-2');
        expect(logger.lines).to.deep.equal([
          {
            level: 'warn',
            message: 'The service signs with a new key, which a trusted key vouches for',
            context: {
              agent_name: 'support-bot',
              kid: last.kid,
              trusted_before: [signer.kid],
              base_url: mock.url,
            },
          },
        ]);
      });

      it('refuses a new key that no trusted key vouches for, and names the new key and the trusted one', async () => {
        const stranger = await createSigner();
        const source = await resolveByKey(options());
        const { policy } = source;
        serveKeys(mock, stranger, signer);
        await serveSignedBy(stranger);
        await source.refresh();

        expect(source.policy).to.equal(policy);
        expect(logger.lines).to.have.length(1);
        const { level, message, context } = logger.lines[0] ?? {};
        expect([level, message]).to.deep.equal([
          'warn',
          'Policy refresh failed; the previous policy stays in force',
        ]);
        expect(context?.['problem']).to.include(`signed by the key ${stranger.kid}`).and.include(signer.kid);
        expect((await faultOf({ key, ...options() })).code).to.equal('signing_key_untrusted');
      });

      it('refuses forged successions', async () => {
        const stranger = await createSigner();
        await resolveByKey(options());
        const good = await signer.vouchFor(stranger);
        const [head, body] = good.split('.') as [string, string];
        const forged = [
          `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`,
          `${head}.${body}.`,
          `${good}.x`,
          await stranger.vouchFor(stranger, { header: { kid: signer.kid } }),
          await stranger.vouchFor(stranger),
          await stranger.vouchFor(signer),
          await signer.vouchFor(stranger, { header: { alg: 'none' } }),
          await signer.vouchFor(stranger, { header: { typ: 'JWT' } }),
          await signer.vouchFor(stranger, { payload: { iss: 'elsewhere' } }),
          await signer.vouchFor(stranger, { payload: { key: { ...stranger.jwk, crv: 'X25519' } } }),
          await signer.vouchFor(await createSigner(), { payload: { kid: stranger.kid } }),
          key,
        ];
        await serveSignedBy(stranger);
        for (const succession of forged) {
          serveKeySet(mock, [stranger, signer], [succession]);
          expect((await faultOf({ key, ...options() })).code).to.equal('signing_key_untrusted');
        }
        serveKeySet(mock, [], [good]);
        mock.on(KEYS_ROUTE, { json: { keys: [stranger.jwk], successions: [42, null, {}, good] } });
        expect((await resolveByKey(options())).agentVersionId).to.equal('v-2');
      });

      it('asks for the successions again, past any cache', async () => {
        const stranger = await createSigner();
        const source = await resolveByKey(options());
        await serveSignedBy(stranger);
        const before = mock.seen(KEYS_ROUTE).length;
        await source.refresh();
        await source.refresh();

        const asked = mock.seen(KEYS_ROUTE).slice(before);
        expect(asked.map(({ headers }) => headers['cache-control'])).to.deep.equal(['no-cache', 'no-cache']);
      });
    });
  }

  it('are kept from the first use on, whatever the key set contains later', async () => {
    await resolveByKey();
    serveKeys(mock, await createSigner());

    expect((await resolveByKey()).origin).to.equal('bundle');
    expect(mock.seen(KEYS_ROUTE)).to.have.length(1);
  });

  it('are not taken from a key set that lacks the signer of the bearer key', async () => {
    serveKeys(mock, await createSigner());
    expect((await faultOf({ key })).code).to.equal('signing_key_untrusted');
    serveKeys(mock, signer);

    expect((await resolveByKey()).origin).to.equal('bundle');
  });

  it('may take over from each other, which is logged once', async () => {
    const other = await createSigner();
    serveKeys(mock, signer, other);
    const source = await resolveByKey();
    await serveSignedBy(other);
    await source.refresh();
    await source.refresh();

    expect(source.agentVersionId).to.equal('v-2');
    expect(logger.lines).to.deep.equal([
      {
        level: 'warn',
        message: 'The policy is signed by another trusted key than before',
        context: {
          agent_name: 'support-bot',
          kid: other.kid,
          kid_before: signer.kid,
          base_url: mock.url,
        },
      },
    ]);
  });

  it('are those of the first use for a source that began at the same time', async () => {
    const stranger = await createSigner();
    const keys = [signer.jwk, stranger.jwk];
    mock.on(
      KEYS_ROUTE,
      { json: { keys: [signer.jwk] } },
      { json: { keys }, delay_ms: 500 },
      { json: { keys } },
    );
    const strange = await signedRecord(publishedAgent({ version: 2 }), stranger);
    // The second source waits for its key set, so the first one fetches its policy before.
    mock.on(AGENT_ROUTE, conditionally(v1), { json: strange });
    const first = resolveByKey({ timeoutMs: 5_000 });
    await mock.arrived(KEYS_ROUTE, 1);
    const second = faultOf({ key, timeoutMs: 5_000 });

    expect((await first).agentVersionId).to.equal('v-1');
    expect((await second).code).to.equal('signing_key_untrusted');
  });

  it('are reported when the signer of the bearer key does not vouch for them on first use', async () => {
    const stranger = await createSigner();
    serveKeys(mock, stranger, signer);
    await serveSignedBy(stranger);

    expect((await resolveByKey()).agentVersionId).to.equal('v-2');
    expect(logger.at('warn')).to.deep.equal([
      'The key that signed the policy is trusted on first use alone: the signer of the bearer key does not vouch for it',
    ]);
  });

  it('are silent on first use after a rotation, with successions', async () => {
    const next = await createSigner();
    serveKeySet(mock, [next, signer], [await signer.vouchFor(next)]);
    await serveSignedBy(next);

    expect((await resolveByKey()).agentVersionId).to.equal('v-2');
    expect(logger.lines).to.deep.equal([]);
  });
});
