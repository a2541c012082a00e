import { expect } from 'chai';
import type { PolicySource } from '../../../client/index.ts';
import { conditionally, etagOf, publishedAgent, yamlRecord } from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { withEnvironment } from '../../support/environment.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('refresh', () => {
  const world = forEachTest(startPolicyWorld);
  let { mock, v1, v2, logger, resolveByKey } = world;
  beforeEach(() => void ({ mock, v1, v2, logger, resolveByKey } = world));

  const mayWrite = (source: PolicySource): boolean =>
    source.policy.decide({ tool: 'write' }).outcome === 'allow';

  it('sends a conditional GET with If-None-Match; on 304 keeps the same policy object (no swap)', async () => {
    const source = await resolveByKey();
    const { policy } = source;
    await source.refresh();
    await source.refresh();

    expect(mock.seen(AGENT_ROUTE).map(({ headers }) => headers['if-none-match'])).to.deep.equal([
      undefined,
      etagOf(v1),
      etagOf(v1),
    ]);
    expect(source.policy).to.equal(policy);
    expect(logger.lines).to.deep.equal([]);
  });

  it('on 200, verifies and swaps policy, etag and version together', async () => {
    const source = await resolveByKey();
    const { policy } = source;
    mock.on(AGENT_ROUTE, conditionally(v2));
    await source.refresh();

    expect(source.policy).to.not.equal(policy);
    expect(source.etag).to.equal(etagOf(v2));
    expect(source.agentVersionId).to.equal('v-2');
    expect(mayWrite(source)).to.equal(true);
    expect(policy.decide({ tool: 'write' }).outcome).to.equal('deny');
    await source.refresh();
    expect(mock.seen(AGENT_ROUTE)[2]?.headers['if-none-match']).to.equal(etagOf(v2));
  });

  it('reaches the service through a fetch that caches by default, as in Next.js 14', async () => {
    const { fetch } = globalThis;
    const cache = new Map<unknown, Response>();
    globalThis.fetch = async (url, options) => {
      const answer =
        (options?.cache === 'no-store' ? undefined : cache.get(url)) ?? (await fetch(url, options));
      cache.set(url, answer.clone());
      return answer;
    };
    try {
      const source = await resolveByKey();
      mock.on(AGENT_ROUTE, conditionally(v2));
      await source.refresh();

      expect(mayWrite(source)).to.equal(true);
    } finally {
      globalThis.fetch = fetch;
    }
  });

  for (const [name, tagOf] of [
    ['any', () => '*'],
    ['several', () => `${etagOf(v1)}, ${etagOf(v2)}`],
    ['the next version', () => etagOf(v2)],
    ['the next version, weakly', () => `W/${etagOf(v2)}`],
  ] as const)
    it(`does not send a forged ETag of ${name}, and so gets the next version`, async () => {
      mock.on(AGENT_ROUTE, { json: v1, headers: { ETag: tagOf() } });
      const source = await resolveByKey();
      mock.on(AGENT_ROUTE, conditionally(v2));
      await source.refresh();

      expect(mock.seen(AGENT_ROUTE)[1]?.headers['if-none-match']).to.equal(undefined);
      expect(source.agentVersionId).to.equal('v-2');
    });

  it('never contacts the platform in local mode: keeps the policy and warns', async () => {
    const source = await resolveByKey();
    mock.on(AGENT_ROUTE, conditionally(v2));
    await withEnvironment({ GATE_LOCAL_MODE: '1' }, async () => {
      await source.refresh();
      source.refreshSync();
    });

    expect(mock.seen(AGENT_ROUTE)).to.have.length(1);
    expect(mayWrite(source)).to.equal(false);
    expect(logger.lines.map(({ context }) => context?.problem)).to.deep.equal(
      Array(2).fill('GATE_LOCAL_MODE is on: the platform is not contacted'),
    );
  });

  it('accepts the same version again', async () => {
    const source = await resolveByKey();
    mock.on(AGENT_ROUTE, { json: v1, headers: { ETag: etagOf(v1) } });
    await source.refresh();

    expect(source.agentVersionId).to.equal('v-1');
    expect(logger.lines).to.deep.equal([]);
  });

  it('replaces a record without a bundle by one with a bundle, but not the reverse', async () => {
    mock.on(AGENT_ROUTE, conditionally(yamlRecord(publishedAgent())));
    const source = await resolveByKey();
    expect(source.origin).to.equal('yaml');
    mock.on(AGENT_ROUTE, conditionally(v2));
    await source.refresh();
    expect(source.origin).to.equal('bundle');
    mock.on(AGENT_ROUTE, conditionally(yamlRecord(publishedAgent({ version: 3 }))));
    await source.refresh();

    expect(source.origin).to.equal('bundle');
    expect(logger.at('warn')).to.have.length(2);
    expect(logger.at('warn')[0]).to.match(/^The policy in force is not signed/);
    expect(logger.at('warn')[1]).to.match(/^Policy refresh failed/);
  });

  it('shares one fetch among concurrent refreshes of a binding', async () => {
    const source = await resolveByKey();
    const good = conditionally(v2);
    mock.on(AGENT_ROUTE, (request) => ({ ...good(request), delay_ms: 50 }));
    await Promise.all(Array.from({ length: 20 }, () => source.refresh()));

    expect(mock.seen(AGENT_ROUTE)).to.have.length(2);
    expect(source.agentVersionId).to.equal('v-2');
    await source.refresh();
    expect(mock.seen(AGENT_ROUTE)).to.have.length(3);
  });

  it('fetches separately for two bindings', async () => {
    const [a, b] = [await resolveByKey(), await resolveByKey()];
    await Promise.all([a.refresh(), b.refresh()]);

    expect(mock.seen(AGENT_ROUTE)).to.have.length(4);
  });
});
