import { expect } from 'chai';
import { calculateJwkThumbprint, type JSONWebKeySet } from 'jose';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accepted, outcomeOf, sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { directoryWithProject } from '../support/gate.ts';
import { base64Of, keySetOf } from '../support/keys.ts';
import { runService } from '../support/processes.ts';
import { startTestService, temporaryDirectory } from '../support/service.ts';

const unauthenticated = { status: 401, code: 'unauthenticated' };

describe('the signing key', () => {
  it('is created at first boot in the data directory, for its owner only, and its kid is the RFC 7638 thumbprint', async () => {
    const service = await startTestService();
    const response = await fetch(`${service.url}/v1/.well-known/keys`);
    const { keys } = (await response.json()) as JSONWebKeySet;
    await service.stop();

    const path = join(service.dataDir, 'signing-key.pem');
    const { x } = createPublicKey(createPrivateKey(readFileSync(path))).export({ format: 'jwk' });
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(statSync(join(service.dataDir, 'demo.json')).mode & 0o777).to.equal(0o600);
    expect(response.headers.get('Cache-Control')).to.equal('public, max-age=300');
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: String(x) };
    expect(keys).to.deep.equal([
      { ...jwk, alg: 'EdDSA', use: 'sig', kid: await calculateJwkThumbprint(jwk) },
    ]);
  });

  it('may be given, as a seed or as a PEM file; a retired key still verifies and stays in the set', async () => {
    const { dataDir, project } = await directoryWithProject();
    const old = createPublicKey(readFileSync(join(dataDir, 'signing-key.pem'))).export({ format: 'jwk' });
    const { privateKey } = generateKeyPairSync('ed25519');
    const fresh = privateKey.export({ format: 'jwk' });
    const seed = base64Of(fresh.d);
    const pem = join(temporaryDirectory(), 'root.pem');
    writeFileSync(pem, privateKey.export({ type: 'pkcs8', format: 'pem' }));

    const strict = await startTestService({ dataDir, env: { GATE_DEMO: '0', GATE_SIGNING_KEY: seed } });
    const refused = await outcomeOf(await sendDecision(strict, decisionEvent(), { key: project.key }));
    const { keys: strictKeys } = await keySetOf(strict);
    await strict.stop();
    const retired = { GATE_SIGNING_KEYS_RETIRED: `${base64Of(old.x)},${base64Of(old.x)}` };
    const lenient = await startTestService({
      dataDir,
      env: { GATE_DEMO: '0', GATE_SIGNING_KEY: pem, ...retired },
    });
    const taken = await outcomeOf(await sendDecision(lenient, decisionEvent(), { key: project.key }));
    const { keys: lenientKeys } = await keySetOf(lenient);
    await lenient.stop();

    expect([refused, taken]).to.deep.equal([unauthenticated, accepted]);
    expect(strictKeys.map(({ x }) => x)).to.deep.equal([fresh.x]);
    expect(lenientKeys.map(({ x }) => x)).to.deep.equal([fresh.x, old.x]);
    expect(lenient.output() + strict.output()).to.not.contain(seed);
  });

  it('that is not an Ed25519 key stops the start, and is not printed', async () => {
    const pem = join(temporaryDirectory(), 'root.pem');
    for (const text of [
      'hidden-text',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    ]) {
      writeFileSync(pem, text);

      const { code, stdout, stderr } = await runService({
        dataDir: temporaryDirectory(),
        env: { GATE_SIGNING_KEY: pem },
      });

      expect(code).to.equal(1);
      expect(stderr)
        .to.contain('GATE_SIGNING_KEY')
        .and.not.match(/^\s+at /m);
      expect(stdout + stderr).to.not.contain(String(text).split('\n').at(1) ?? text);
      expect(stdout + stderr).to.not.contain('hidden-text');
    }
  });
});
