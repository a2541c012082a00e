import { expect } from 'chai';
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  importPKCS8,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose';
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accepted, outcomeOf, readDecisions, sendDecision, sendLlm } from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { issue, type Key, keySetOf, revoke } from '../support/keys.ts';
import { useSharedService } from '../support/shared-service.ts';

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const unauthenticated = { status: 401, code: 'unauthenticated' };

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

describe('bearer keys', () => {
  const service = useSharedService();
  const other = useSharedService();
  let first: Key;
  let dated: Key;
  let revoked: Key;
  before(async () => {
    const { owner } = service;
    first = await issue(service, owner);
    revoked = await issue(service, owner);
    dated = await issue(service, owner, { expires_in_days: 2 });
    await revoke(service, owner, revoked.key_id);
  });

  const send = async (key: string) => outcomeOf(await sendDecision(service, decisionEvent(), { key }));
  const rootKey = () => importPKCS8(readFileSync(join(service.dataDir, 'signing-key.pem'), 'utf8'), 'EdDSA');

  /** A key as the service would issue it, except for the given fields. */
  async function forged({ claims, kid, key }: { claims?: JWTPayload; kid?: string; key?: KeyObject } = {}) {
    const header = { ...decodeProtectedHeader(first.key), alg: 'EdDSA', ...(kid !== undefined && { kid }) };
    return new SignJWT({ ...decodeJwt(first.key), ...claims })
      .setProtectedHeader(header)
      .sign(key ?? (await rootKey()));
  }

  it('is a JWT with the claims of the contract, verified by the published key set', async () => {
    const jwks = await keySetOf(service);

    const { payload, protectedHeader } = await jwtVerify(first.key, createLocalJWKSet(jwks));

    expect(protectedHeader).to.include({ alg: 'EdDSA', kid: jwks.keys[0]?.kid });
    const { iat, ...claims } = payload;
    expect(claims).to.deep.equal({
      iss: 'gatehouse',
      jti: first.key_id,
      sub: service.project_id,
      scope: 'emit_audit read_audit',
    });
    expect(iat).to.be.within(nowSeconds() - 120, nowSeconds());
  });

  it('has exp only when it was issued for a number of days', () => {
    const { iat = 0, exp } = decodeJwt(dated.key);

    expect(decodeJwt(first.key)).to.not.have.property('exp');
    expect(exp).to.be.within(iat + 2 * 86_400 - 1, iat + 2 * 86_400 + 1);
  });

  it('any valid key of a project may write, and a key writes to its own project', async () => {
    const event = decisionEvent();

    const outcomes = [];
    for (const { key } of [first, dated, other]) outcomes.push(await send(key));
    outcomes.push(await outcomeOf(await sendDecision(service, event, { key: other.key })));
    outcomes.push(await outcomeOf(await sendLlm(service, llmInvocation(), { key: dated.key })));

    expect(outcomes).to.deep.equal(outcomes.map(() => accepted));
    const items = [service, other].map(async ({ project_id }) =>
      (await readDecisions(service, {}, project_id)).items.map((item) => item.event_id),
    );
    const [ofFirst, ofOther] = await Promise.all(items);
    expect(ofFirst).to.not.include(event['event_id']);
    expect(ofOther).to.include(event['event_id']);
  });

  it('the scheme is Bearer in any case', async () => {
    for (const scheme of ['bearer', 'BEARER', 'Bearer']) {
      const response = await sendDecision(service, decisionEvent(), {
        headers: { Authorization: `${scheme} ${first.key}` },
      });
      expect(response.status, scheme).to.equal(202);
    }
  });

  it('401 carries WWW-Authenticate: Bearer', async () => {
    const response = await sendDecision(service, decisionEvent(), { key: 'bad' });

    expect(response.status).to.equal(401);
    expect(response.headers.get('WWW-Authenticate')).to.match(/^Bearer\b/);
  });

  it('a missing key is 401', async () => {
    const response = await fetch(`${service.url}/v1/audit/decisions`, {
      method: 'POST',
      body: JSON.stringify(decisionEvent()),
    });

    expect(await outcomeOf(response)).to.deep.equal(unauthenticated);
  });

  it('a malformed Authorization header is 401', async () => {
    const { key } = first;
    const headers = [
      'Bearer',
      'Bearer ',
      key,
      `Basic ${key}`,
      `Bearer${key}`,
      `Bearer ${key} x`,
      `Bearer ${key},`,
      `Bearer "${key}"`,
      `Bearer ${'x'.repeat(8000)}`,
    ];
    for (const Authorization of headers) {
      const outcome = await outcomeOf(
        await sendDecision(service, decisionEvent(), { headers: { Authorization } }),
      );
      expect(outcome, Authorization).to.deep.equal(unauthenticated);
    }
  });

  it('a tampered key is 401', async () => {
    const [head = '', body = '', signature = ''] = first.key.split('.');
    const changed = Buffer.from(JSON.stringify({ ...decodeJwt(first.key), sub: other.project_id })).toString(
      'base64url',
    );
    const flipped = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
    // The last four bits of the signature's text are unused.
    const [last = ''] = signature.slice(-1);
    const respelled = signature.slice(0, -1) + BASE64URL[BASE64URL.indexOf(last) ^ 1];
    const bad = [
      `${head}.${changed}.${signature}`,
      `${head}.${body}.${flipped}`,
      `${head}.${body}.${respelled}`,
      `${head}.${body}.${signature}==`,
      `${head}.${body}.`,
      `${head}.${body}`,
      `${head}.${body}.${signature}.x`,
      `.${body}.${signature}`,
      '..',
      'x.y.z',
    ];
    for (const key of bad) expect(await send(key), key).to.deep.equal(unauthenticated);
    expect(await send(first.key)).to.deep.equal(accepted);
  });

  it('no error repeats it', async () => {
    const { key } = first;
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const ask = (path: string, init: RequestInit = {}) => fetch(service.url + path, { headers, ...init });
    const sent = (header: string) =>
      ask('/v1/audit/decisions', { method: 'POST', body: '{}', headers: { ...headers, [header]: key } });
    const answers = [
      await ask(`/v1/nothing/${key}`),
      await ask(`/v1/agents/${key}`),
      await sent('Content-Type'),
      await sent('Content-Encoding'),
    ];

    expect(answers.map(({ status }) => status)).to.deep.equal([404, 404, 422, 422]);
    for (const answer of answers) {
      const text = await answer.text();
      expect(text).to.include('[redacted]').and.not.include(key);
    }
  });

  it('a receipt is 401, although the root key signed it and it has the id of a key', async () => {
    const event = { ...decisionEvent(), event_id: first.key_id };
    const { headers } = await sendDecision(service, event, { headers: { 'Gate-Want-Receipt': '1' } });
    const receipt = headers.get('Gate-Receipt') ?? '';

    expect(receipt.split('.')).to.have.length(3);
    expect(await send(receipt)).to.deep.equal(unauthenticated);
  });

  it('an unsigned key, or one signed with the public key as a secret, is 401', async () => {
    const payload = first.key.split('.')[1];
    const encode = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url');
    const publicKey = createPublicKey(
      createPrivateKey(readFileSync(join(service.dataDir, 'signing-key.pem'))),
    ).export({ type: 'spki', format: 'pem' });
    const { kid } = decodeProtectedHeader(first.key);
    const hmac = await new SignJWT(decodeJwt(first.key))
      .setProtectedHeader({ alg: 'HS256', ...(kid === undefined ? {} : { kid }) })
      .sign(Buffer.from(publicKey));

    for (const key of [
      `${encode({ alg: 'none' })}.${payload}.`,
      `${encode({ alg: 'none', kid })}.${payload}.`,
      hmac,
    ]) {
      expect(await send(key)).to.deep.equal(unauthenticated);
    }
  });

  it('a well-signed key whose jti was never issued here is 401', async () => {
    expect(await send(await forged())).to.deep.equal(accepted);
    expect(
      await send(await forged({ claims: { jti: '5e1c5e0a-0000-4000-8000-000000000000' } })),
    ).to.deep.equal(unauthenticated);
    expect(await send(await forged({ claims: { jti: undefined } as unknown as JWTPayload }))).to.deep.equal(
      unauthenticated,
    );
  });

  it('a well-signed key of another issuer, or past its exp, is 401', async () => {
    for (const claims of [{ iss: 'someone' }, { exp: nowSeconds() - 1 }, { exp: 1 }]) {
      expect(await send(await forged({ claims })), JSON.stringify(claims)).to.deep.equal(unauthenticated);
    }
    expect(await send(await forged({ claims: { exp: nowSeconds() + 60 } }))).to.deep.equal(accepted);
  });

  it('a key with an unknown kid, or of another signer, is 401', async () => {
    const stranger = generateKeyPairSync('ed25519').privateKey;

    expect(await send(await forged({ kid: 'unknown' }))).to.deep.equal(unauthenticated);
    expect(await send(await forged({ key: stranger }))).to.deep.equal(unauthenticated);
  });

  it('a revoked key is 401, and other keys of the project still work', async () => {
    expect([await send(revoked.key), await send(first.key)]).to.deep.equal([unauthenticated, accepted]);
  });

  it('a key is 401 from its exp on, even if it was verified before', async () => {
    const brief = await forged({ claims: { exp: nowSeconds() + 2 } });
    const before = await send(brief);
    await new Promise((resolve) => setTimeout(resolve, 2100));

    expect([before, await send(brief)]).to.deep.equal([accepted, unauthenticated]);
  });
});
