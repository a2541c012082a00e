import { expect } from 'chai';
import type { Reply } from '../../support/mock-server.ts';
import {
  conditionally,
  createSigner,
  etagOf,
  publishedAgent,
  resigned,
  signedRecord,
  yamlRecord,
} from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { ofAnotherRealm } from '../../support/another-realm.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('refresh: on any failure logs a warning and keeps the previous verified policy', () => {
  const world = forEachTest(startPolicyWorld);
  let { mock, signer, key, v1, v2, logger, resolveByKey } = world;
  beforeEach(() => void ({ mock, signer, key, v1, v2, logger, resolveByKey } = world));

  const failures: [string, () => Reply | Promise<Reply>][] = [
    ['network: reset', () => ({ fault: 'reset' })],
    ['network: reset mid-body', () => ({ fault: 'reset_mid_body' })],
    ['network: hung', () => ({ fault: 'hang' })],
    ['network: a body that never ends', () => ({ fault: 'slow_body' })],
    [
      'network: an answer that switches protocols',
      () => ({ status: 101, headers: { Connection: 'Upgrade', Upgrade: 'websocket' } }),
    ],
    ['404', () => ({ status: 404 })],
    ['401', () => ({ status: 401 })],
    ['503', () => ({ status: 503 })],
    [
      'a redirect, even to a good answer',
      () => {
        mock.on('GET /elsewhere', { json: v2 });
        return { status: 307, headers: { Location: '/elsewhere' } };
      },
    ],
    ['torn JSON', () => ({ fault: 'torn_json' })],
    ['an answer that is no record', () => ({ json: [1] })],
    ['failed verification: a tampered module', () => ({ json: { ...v2, bundle_wasm_b64: 'AAAA' } })],
    ['failed verification: a tampered policy', () => ({ json: { ...v2, policy_yaml: 'version: 1' } })],
    [
      'failed verification: a stranger’s signature',
      async () => ({ json: await resigned(v2, { kid: signer.kid }, await createSigner()) }),
    ],
    [
      'failed verification: another agent',
      async () => ({ json: await resigned(v2, { agent_name: 'x' }, signer) }),
    ],
    [
      'failed verification: another project',
      async () => ({ json: await resigned(v2, { project_id: 'x' }, signer) }),
    ],
    [
      'an unknown signing key',
      async () => ({ json: await signedRecord(publishedAgent(), await createSigner()) }),
    ],
    ['a record without a bundle', () => ({ json: yamlRecord(publishedAgent({ version: 3 })) })],
  ];
  for (const [name, replyOf] of failures) {
    it(name, async () => {
      const source = await resolveByKey({ timeoutMs: 2_000 });
      const { policy, etag } = source;
      mock.on(AGENT_ROUTE, await replyOf());
      await source.refresh();

      expect(source.policy).to.equal(policy);
      expect(source.etag).to.equal(etag);
      expect(source.origin).to.equal('bundle');
      expect(logger.lines.map(({ level, message }) => [level, message])).to.deep.equal([
        ['warn', 'Policy refresh failed; the previous policy stays in force'],
      ]);
    });
  }

  const problemOfFetch = async (thrown: object): Promise<unknown> => {
    const source = await resolveByKey();
    const { fetch } = globalThis;
    globalThis.fetch = () => Promise.reject(thrown);
    try {
      await source.refresh();
    } finally {
      globalThis.fetch = fetch;
    }
    expect(logger.at('warn')).to.have.length(1);
    return logger.lines[0]?.context?.problem;
  };

  it('a replaced fetch that throws a value without a text', async () => {
    const toString = () => {
      throw Object.create(null);
    };

    expect(await problemOfFetch({ toString })).to.match(/ failed: an error without a message$/);
  });

  it('a fetch whose error is its own cause', async () => {
    const error = new Error('refused');
    error.cause = error;

    expect(await problemOfFetch(error)).to.match(/ failed: refused$/);
  });

  it('a fetch whose errors are of another realm, as in Jest: the warning has the reason', async () => {
    const refused = ofAnotherRealm({ message: '', errors: [ofAnotherRealm({ message: 'refused' })] });

    expect(await problemOfFetch(ofAnotherRealm({ cause: refused }))).to.match(/ failed: refused$/);
  });

  it('an older version with a valid signature', async () => {
    mock.on(AGENT_ROUTE, conditionally(v2));
    const source = await resolveByKey();
    mock.on(AGENT_ROUTE, conditionally(v1));
    await source.refresh();

    expect(source.agentVersionId).to.equal('v-2');
    expect(logger.at('warn')).to.have.length(1);
  });

  it('an older version, signed or not, after one without a bundle', async () => {
    mock.on(AGENT_ROUTE, conditionally(yamlRecord(publishedAgent({ version: 3 }))));
    const source = await resolveByKey();
    const { policy } = source;
    for (const older of [v2, yamlRecord(publishedAgent({ version: 2 }))]) {
      mock.on(AGENT_ROUTE, conditionally(older));
      await source.refresh();
    }

    expect([source.origin, source.agentVersionId]).to.deep.equal(['yaml', 'v-3']);
    expect(source.policy).to.equal(policy);
    expect(logger.at('warn').filter((line) => line.startsWith('Policy refresh failed'))).to.have.length(2);
  });

  it('keeps the policy after many failures, and installs the next valid response', async () => {
    const source = await resolveByKey();
    mock.on(AGENT_ROUTE, { status: 503 });
    for (let i = 0; i < 20; i += 1) await source.refresh();
    expect(source.agentVersionId).to.equal('v-1');
    mock.on(AGENT_ROUTE, conditionally(v2));
    await source.refresh();

    expect(source.agentVersionId).to.equal('v-2');
    expect(logger.at('warn')).to.have.length(20);
  });

  it('requests a tampered bundle again without its ETag', async () => {
    const source = await resolveByKey();
    mock.on(AGENT_ROUTE, { json: { ...v2, bundle_wasm_b64: 'AAAA' }, headers: { ETag: etagOf(v2) } });
    await source.refresh();
    mock.on(AGENT_ROUTE, conditionally(v2));
    await source.refresh();

    expect(source.agentVersionId).to.equal('v-2');
  });

  it('logs no bearer key', async () => {
    const source = await resolveByKey();
    mock.on(AGENT_ROUTE, { status: 401, json: { detail: key } });
    await source.refresh();

    expect(JSON.stringify(logger.lines)).to.not.include(key);
  });
});
