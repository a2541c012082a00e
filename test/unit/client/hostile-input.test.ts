import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { PolicyError, type PolicySource } from '../../../client/index.ts';
import { parseBearerKey, verifyBearerKey } from '../../../client/policy/bearer-key.ts';
import { engineFromYaml } from '../../../client/policy/engine.ts';
import { loadParser } from '../../../client/policy/load-parser.ts';
import { followSuccessions } from '../../../client/policy/successions.ts';
import { hostileJson, hostileText } from '../../support/arbitrary-hostile.ts';
import { cpuMs, fastestCpuMs } from '../../support/cpu-time.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import type { Reply } from '../../support/mock-server.ts';
import { createSigner, policyYaml, publishedAgent, resigned, signedRecord } from '../../support/platform.ts';
import { AGENT_ROUTE, KEYS_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';

// Generated input for every parser of the client that reads foreign data. Each run has its own seed: fast-check prints it with the smallest
// failing case.

const OUTCOMES = ['allow', 'deny', 'needs_approval'];
const POLICY = `version: 1
tools: [search, write, transfer]
roles: {"*": {allow: [search], approve: [transfer]}}
rules:
  - {id: r, tools: [search], effect: deny, reason: No., when: {all: [{arg: a.b, gte: 1.5}, {arg: c, like: "x*"}]}}
`;

/** The thrown error, which must be a PolicyError; undefined if nothing is thrown. */
async function faultOf(run: () => unknown): Promise<PolicyError | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
}

describe('hostile input', () => {
  const world = forEachTest(startPolicyWorld);

  before(loadParser);

  it('1,000 policy texts: a policy that decides, or policy_invalid', async () => {
    await fc.assert(
      fc.asyncProperty(hostileText(POLICY), async (text) => {
        const fault = await faultOf(() => {
          const decision = engineFromYaml(text).decide({ tool: 'search', arguments: { c: text } });
          expect(OUTCOMES).to.include(decision.outcome);
        });
        if (fault) expect(fault.code).to.equal('policy_invalid');
      }),
      { numRuns: 1_000 },
    );
  });

  it('the most expensive policy texts take time in proportion to their length', () => {
    for (const part of ['"""', ',']) {
      const read = (length: number) => {
        const text = `[${part.repeat(length / part.length)}`;
        expect(() => engineFromYaml(text)).to.throw(PolicyError);
      };
      const quarterMs = fastestCpuMs(() => read(32_000 / 4));
      expect(cpuMs(() => read(32_000)) / quarterMs, part).to.be.below(10);
    }
  });

  it('4,000 bearer keys: key_malformed, or a key that the platform did not sign', async () => {
    const signed = world.key.slice(0, world.key.lastIndexOf('.'));
    const publicKey = Buffer.from(world.signer.publicKey, 'base64');
    let verified = 0;
    await fc.assert(
      fc.asyncProperty(hostileText(world.key), async (text) => {
        const fault = await faultOf(async () => {
          const parsed = parseBearerKey(text);
          // Verifying takes milliseconds, so only the first ones are verified.
          if ((verified += 1) > 101) return;
          await verifyBearerKey(parsed, publicKey);
          expect(parsed.signedText).to.equal(signed);
        });
        if (fault) expect(fault.code).to.be.oneOf(['key_malformed', 'key_signature_invalid']);
      }),
      { numRuns: 4_000 },
    );
    expect(verified).to.be.above(100);
  });

  /** Whether version 2 is installed; anything but one of the two signed versions fails. */
  const isSecond = ({ origin, agentVersionId, policy }: PolicySource): boolean => {
    expect(origin).to.equal('bundle');
    expect(agentVersionId).to.be.oneOf(['v-1', 'v-2']);
    const outcome = policy.decide({ tool: 'write' }).outcome;
    expect(outcome).to.equal(agentVersionId === 'v-2' ? 'allow' : 'deny');
    return agentVersionId === 'v-2';
  };

  it('300 records from the service: a refresh never rejects, and installs only what is signed', async () => {
    const stranger = await createSigner();
    const allow = ['search', 'write', 'transfer'];
    const own = await signedRecord(
      publishedAgent({ version: 9, policy_yaml: policyYaml({ allow }) }),
      stranger,
    );
    // Complete and consistent, except for the signature of the key that it names.
    const evil = await resigned(own, { kid: world.signer.kid }, stranger);
    const records = [world.v2, world.v2, world.v1, evil];
    const members = Object.keys(evil).map((name) => [
      name,
      fc.constantFrom(...records.map((of) => of[name])),
    ]);
    const mixed = fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>);
    const hostile = fc.oneof(
      { weight: 3, arbitrary: fc.oneof(...[world.v2, evil, own].map(hostileJson)) },
      { weight: 3, arbitrary: mixed.map((record) => JSON.stringify(record)) },
      fc.constantFrom(own, evil).map((record) => JSON.stringify(record)),
    );
    let source = await world.resolveByKey();
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        world.mock.on(AGENT_ROUTE, { text, headers: { ETag: '"x"' } });
        await source.refresh();
        if (!isSecond(source)) return;
        world.mock.on(AGENT_ROUTE, { json: world.v1 });
        source = await world.resolveByKey();
      }),
      { numRuns: 300 },
    );
  });

  it('150 key sets at first use: nothing is resolved but a policy of the platform', async () => {
    const stranger = await createSigner();
    const keySet = { keys: [world.signer.jwk, stranger.jwk], successions: [world.key, 'a.b.c'] };
    let resolved = 0;
    await fc.assert(
      fc.asyncProperty(hostileJson(keySet), async (text) => {
        const fault = await faultOf(async () => {
          const fresh = await resolveWith({ text });
          expect(fresh.agentVersionId).to.equal('v-1');
          resolved += 1;
        });
        if (fault) expect(fault.code).to.match(/^key_set_|^signing_key_|^key_signature_/);
      }),
      { numRuns: 150 },
    );
    expect(resolved).to.be.above(0);
  });

  it('2,000 successions: none leads to a key that the old one did not vouch for', async () => {
    const [next, stranger] = [await createSigner(), await createSigner()];
    const good = await world.signer.vouchFor(next);
    const forged = await stranger.vouchFor(next, { header: { kid: world.signer.kid } });
    const trusted = new Map([[world.signer.kid, Buffer.from(world.signer.publicKey, 'base64')]]);
    let chains = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(hostileText(good), hostileText(forged), fc.constant(good)), async (text) => {
        const chain = await followSuccessions(next.kid, { trusted, successions: ['', text, text] });
        if (chain === undefined) return;
        chains += 1;
        expect(text.split('.').slice(0, 2)).to.deep.equal(good.split('.').slice(0, 2));
        expect([...chain.keys()]).to.deep.equal([next.kid]);
      }),
      { numRuns: 2_000 },
    );
    expect(chains).to.be.above(0);
  });

  let addresses = 0;
  /** Resolves with a new base URL, which has no trust yet. */
  const resolveWith = (keySet: Reply): Promise<PolicySource> => {
    const { mock, key, v1 } = world;
    const path = `/${(addresses += 1)}/v1`;
    mock.on(AGENT_ROUTE.replace('/v1', path), { json: v1 });
    mock.on(KEYS_ROUTE.replace('/v1', path), keySet);
    return world.resolve({ key, baseUrl: mock.url + path.replace('/v1', '') });
  };

  it('150 local records: a broken one throws, and the policy in use stays', async () => {
    const file = await temporaryFile('record.json', JSON.stringify(world.v1));
    const options = { localPolicy: file, publicKey: world.signer.publicKey };
    const source = await world.resolve(options);
    await fc.assert(
      fc.asyncProperty(hostileJson(world.v1), async (text) => {
        await writeFile(file, text);
        const { policy } = source;
        const fault = await faultOf(() => source.refresh());
        if (fault) expect(source.policy).to.equal(policy);
        else expect(source.policy.decide({ tool: 'transfer' }).outcome).to.not.equal('allow');
      }),
      { numRuns: 150 },
    );
  });

  it('answers that HTTP allows and a client does not expect', async () => {
    const source = await world.resolveByKey();
    const json = JSON.stringify(world.v2);
    const large = ' '.repeat(9 * 1024 * 1024);
    const answers: Reply[] = [
      { text: json + large, headers: { ETag: '"large"' } },
      { text: '['.repeat(4_000_000) },
      { text: `{"policy_yaml":${'['.repeat(100_000)}${']'.repeat(100_000)}}` },
      { text: json, headers: { 'Content-Encoding': 'gzip' } },
      { text: json, headers: { 'Content-Encoding': 'br, gzip, deflate' } },
      { text: '', status: 204 },
      { text: json, status: 206 },
      { status: 304, headers: { ETag: '"other"' } },
      { text: json, status: 203 },
      { text: '\ufeff'.repeat(100) },
      { text: 'null' },
      { text: '"text"' },
    ];
    for (const answer of answers) {
      world.mock.on(AGENT_ROUTE, answer);
      await source.refresh();
      expect(isSecond(source)).to.equal(false);
    }
    world.mock.on(AGENT_ROUTE, { json: world.v2, headers: { ETag: `"${'\u00ff'.repeat(3_000)}"` } });
    await source.refresh();
    expect(isSecond(source)).to.equal(true);
    const before = world.logger.lines.length;
    await source.refresh();
    expect(world.logger.lines).to.have.length(before);
  });
});
