import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PolicySource } from '../../../client/index.ts';
import type { Reply } from '../../support/mock-server.ts';
import { conditionally } from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { eventually } from '../../support/eventually.ts';
import { forEachTest } from '../../support/for-each-test.ts';

const TIMEOUT_MS = 2_000;
const SHORT_MS = 250;

describe('refresh from a service that hangs', () => {
  const world = forEachTest(startPolicyWorld);

  const tookMs = async (source: PolicySource): Promise<number> => {
    const startedAtMs = performance.now();
    await source.refresh();
    return performance.now() - startedAtMs;
  };
  const allowsWrite = ({ policy }: PolicySource): boolean =>
    policy.decide({ tool: 'write' }).outcome === 'allow';
  const failing = async (): Promise<PolicySource> => {
    const source = await world.resolveByKey({ timeoutMs: TIMEOUT_MS });
    world.mock.on(AGENT_ROUTE, { fault: 'hang' });
    expect(await tookMs(source)).to.be.above(TIMEOUT_MS - 50);
    return source;
  };

  /** Refreshes, and lets the service answer when that has ended. */
  const answerLate = async (source: PolicySource, reply: Reply): Promise<void> => {
    const refreshed = Promise.withResolvers<Reply>();
    world.mock.on(AGENT_ROUTE, () => refreshed.promise);
    await source.refresh();
    refreshed.resolve(reply);
  };
  /** On a busy machine the answer may come too late for a short refresh, and is installed by a later one. */
  const installs = (source: PolicySource): Promise<true> =>
    eventually(async () => {
      const isLate = (await tookMs(source)) >= SHORT_MS - 10;
      expect(allowsWrite(source) || isLate).to.equal(true);
      return allowsWrite(source);
    });

  it('holds one run for the timeout, and the next for 250 ms at most, each with one request and one warning', async () => {
    const source = await failing();
    for (let i = 0; i < 2; i += 1) expect(await tookMs(source)).to.be.within(200, TIMEOUT_MS - 50);

    expect(world.mock.seen(AGENT_ROUTE)).to.have.length(1 + 3);
    const refreshes = world.logger
      .at('warn')
      .filter((message) => message.startsWith('Policy refresh failed'));
    expect(refreshes).to.have.length(3);
  });

  it('holds a run for the timeout again after a success, and installs the answer at once', async () => {
    const source = await failing();
    world.mock.on(AGENT_ROUTE, conditionally(world.v2));
    await installs(source);
    world.mock.on(AGENT_ROUTE, { fault: 'hang' });

    expect(await tookMs(source)).to.be.above(TIMEOUT_MS - 50);
  });

  it('installs the answer of the service once it is back, even if a request still hangs', async () => {
    const source = await failing();
    await source.refresh();
    world.mock.on(AGENT_ROUTE, conditionally(world.v2));

    await installs(source);
  });

  it('ignores the answer to an earlier request that arrives after that', async () => {
    const source = await failing();
    world.mock.on(AGENT_ROUTE, { json: { ...world.v2, bundle_wasm_b64: 'AAAA' }, delay_ms: 500 });
    await source.refresh();
    world.mock.on(AGENT_ROUTE, conditionally(world.v2));
    await installs(source);
    await sleep(600);

    expect(allowsWrite(source)).to.equal(true);
    const problems = world.logger.lines.map(({ context }) => String(context?.['problem']));
    expect(problems.filter((problem) => !problem.includes('no answer within'))).to.deep.equal([]);
  });

  it('installs an answer that comes later than that for the next run', async () => {
    const source = await failing();
    await answerLate(source, { json: world.v2 });
    expect(allowsWrite(source)).to.equal(false);

    await eventually(() => allowsWrite(source));
  });

  it('reports why a later answer is refused', async () => {
    const source = await failing();
    await answerLate(source, { json: { ...world.v2, bundle_wasm_b64: 'AAAA' } });
    const problems = await eventually(() => {
      const found = world.logger.lines.map(({ context }) => String(context?.['problem']));
      return found.length >= 3 ? found : undefined;
    });

    expect(problems[1]).to.include('no answer within 250 ms');
    expect(problems[2]).to.include('does not match the hash');
    expect(problems).to.have.length(3);
    expect(allowsWrite(source)).to.equal(false);
  });

  it('holds a blocking run for the timeout again after a minute, also when the clock was set back', async () => {
    const source = await world.resolveByKey({ timeoutMs: TIMEOUT_MS });
    const now = performance.now.bind(performance);
    const blockedMs = (): number => {
      const startedAtMs = performance.now();
      // The mock server runs on this thread, so it does not answer.
      source.refreshSync();
      return performance.now() - startedAtMs;
    };
    expect(blockedMs()).to.be.above(TIMEOUT_MS - 50);
    expect(blockedMs()).to.be.within(200, TIMEOUT_MS - 50);
    world.clock.nowMs -= 3 * 3_600_000;
    performance.now = () => now() + 60_000;
    try {
      expect(blockedMs()).to.be.above(TIMEOUT_MS - 50);
    } finally {
      performance.now = now;
    }
  });

  it('does not report the missing later answer again', async () => {
    const source = await failing();
    await source.refresh();
    await sleep(TIMEOUT_MS);

    expect(world.logger.at('warn')).to.have.length(2);
  });
});

describe('refresh after an immediate failure', () => {
  const world = forEachTest(startPolicyWorld);

  const failures: [string, () => Reply][] = [
    ['404', () => ({ status: 404 })],
    ['503', () => ({ status: 503 })],
    ['reset', () => ({ fault: 'reset' })],
    ['failed verification', () => ({ json: { ...world.v2, bundle_wasm_b64: 'AAAA' } })],
  ];
  for (const [name, replyOf] of failures) {
    it(`waits for its full time: ${name}`, async () => {
      const source = await world.resolveByKey({ timeoutMs: 2_000 });
      world.mock.on(AGENT_ROUTE, replyOf());
      await source.refresh();
      world.mock.on(AGENT_ROUTE, { json: world.v2, delay_ms: 500 });
      await source.refresh();

      expect(source.agentVersionId).to.equal('v-2');
      expect(world.logger.at('warn')).to.have.length(1);
    });
  }
});
