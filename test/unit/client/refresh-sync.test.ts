import { expect } from 'chai';
import { runClientProcess } from '../../support/client-process.ts';
import type { MockServer } from '../../support/mock-server.ts';
import { conditionally, policyYaml, type SignedRecord } from '../../support/platform.ts';
import { AGENT_ROUTE, KEYS_ROUTE, startPolicyWorld, type PolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';

describe('refresh (spec 4.11)', () => {
  let world: PolicyWorld;
  let mock: MockServer;
  let key: string;
  let v2: SignedRecord;

  beforeEach(async () => {
    world = await startPolicyWorld();
    ({ mock, key, v2 } = world);
  });

  afterEach(() => world.close());

  describe('sync entry points refresh by blocking call', () => {
    /** `source` in a process of its own, so that it can block while this one answers. */
    const inProcess = (program: string, variables: Record<string, string> = {}) =>
      runClientProcess(
        `const source = await client.resolvePolicy({ agentName: 'support-bot', timeoutMs: 2000 });
         const report = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
         const next = () => fetch(process.env.GATE_BASE_URL + '/next').then((answer) => answer.text());
         ${program}`,
        { GATE_BASE_URL: mock.url, GATE_KEY: key, ...variables },
      );

    it('which keeps on 304, swaps on 200 and keeps with a warning on failure', async () => {
      const steps: (() => void)[] = [
        () => mock.on(AGENT_ROUTE, conditionally(v2)),
        () => mock.on(AGENT_ROUTE, { status: 503 }),
        () => mock.on(AGENT_ROUTE, { json: { ...v2, bundle_wasm_b64: 'AAAA' } }),
      ];
      mock.on('GET /next', () => (steps.shift()?.(), { text: 'ok' }));
      const result = await inProcess(`
        const first = source.policy;
        source.refreshSync();
        report([source.policy === first, source.agentVersionId]);
        for (let step = 0; step < 3; step += 1) {
          await next();
          source.refreshSync();
          report([source.policy === first, source.agentVersionId]);
        }
      `);

      expect(
        result.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown),
      ).to.deep.equal([
        [true, 'v-1'],
        [false, 'v-2'],
        [false, 'v-2'],
        [false, 'v-2'],
      ]);
      expect(result.stderr.match(/Policy refresh failed/g)).to.have.length(2);
      expect(result.code).to.equal(0);
      expect(mock.seen(KEYS_ROUTE)).to.have.length(1);
    });

    it('which ends when its time is up', async () => {
      mock.on('GET /next', () => (mock.on(AGENT_ROUTE, { fault: 'hang' }), { text: 'ok' }));
      const result = await inProcess(`
        await next();
        const startedAtMs = Date.now();
        source.refreshSync();
        report([Date.now() - startedAtMs, source.agentVersionId]);
      `);
      const [tookMs, version] = JSON.parse(result.stdout) as [number, string];

      expect(tookMs).to.be.within(1_900, 5_000);
      expect(version).to.equal('v-1');
    });

    it('which raises for a broken local override', async () => {
      const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
      const result = await inProcess(
        `const { writeFileSync } = await import('node:fs');
         source.refreshSync();
         writeFileSync(process.env.GATE_LOCAL_POLICY, 'version: 1');
         try { source.refreshSync(); } catch (error) { report([error instanceof client.PolicyError, error.code]); }`,
        { GATE_LOCAL_POLICY: localPolicy },
      );

      expect(JSON.parse(result.stdout)).to.deep.equal([true, 'policy_invalid']);
      expect(mock.requests).to.deep.equal([]);
    });
  });
});
