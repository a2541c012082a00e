import { createHash, randomBytes } from 'node:crypto';
import { getPublicKeyAsync, signAsync } from '@noble/ed25519';
import { parsePolicy } from '../../client/policy/language/index.ts';
import { compilePolicy } from '../../server/policy/compile-policy.ts';
import { loadRuntime } from '../../server/policy/load-runtime.ts';
import { makeBundle } from '../../server/policy/make-bundle.ts';
import { recordHash } from '../../server/policy/record-hash.ts';
import type { SigningKey } from '../../server/policy/sign-bundle.ts';
import type { MockServer, Reply, SeenRequest } from './mock-server.ts';

export type Signer = {
  kid: string;
  /** In the form of GATE_PUBLIC_KEY. */
  publicKey: string;
  jwk: Record<string, string>;
  signingKey: SigningKey;
  bearerKey(projectId: string): Promise<string>;
  /** A succession: this key vouches for the next one. Other fields make it a forged one. */
  vouchFor(next: Signer, forged?: { header?: object; payload?: object }): Promise<string>;
  sign(text: string): Promise<string>;
};

export type PublishedAgent = {
  project_id: string;
  agent_name: string;
  version: number;
  policy_yaml: string;
  agent_yaml: string;
  system_md: string;
};

export type SignedRecord = Record<string, unknown> & {
  bundle_wasm_b64: string;
  bundle_manifest: string;
  bundle_signature_b64: string;
};

const base64url = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url');
const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

/** A platform root key: what it signs, and what it publishes. */
export async function createSigner(): Promise<Signer> {
  const seed = randomBytes(32);
  const raw = await getPublicKeyAsync(seed);
  const sign = async (text: string): Promise<Uint8Array> => signAsync(Buffer.from(text), seed);
  const key = { crv: 'Ed25519', kty: 'OKP', x: base64url(raw) };
  const kid = createHash('sha256').update(JSON.stringify(key)).digest('base64url');
  return {
    kid,
    publicKey: Buffer.from(raw).toString('base64'),
    jwk: { ...key, kid, alg: 'EdDSA', use: 'sig' },
    signingKey: { kid, seed },
    bearerKey: async (projectId) => {
      const header = base64url(JSON.stringify({ alg: 'EdDSA', kid }));
      const claims = base64url(JSON.stringify({ iss: 'gatehouse', jti: 'j-1', sub: projectId }));
      return `${header}.${claims}.${base64url(await sign(`${header}.${claims}`))}`;
    },
    vouchFor: async (next, { header, payload } = {}) => {
      const head = { alg: 'EdDSA', typ: 'gatehouse-succession+jwt', kid, ...header };
      const body = { iss: 'gatehouse', iat: 1_770_000_000, key: next.jwk, ...payload };
      const text = [head, body].map((part) => base64url(JSON.stringify(part))).join('.');
      return `${text}.${base64url(await sign(text))}`;
    },
    sign: async (text) => Buffer.from(await sign(text)).toString('base64'),
  };
}

/** An agent record without a bundle, as the service returns it if it could not create one. */
export function yamlRecord(agent: PublishedAgent): Record<string, unknown> {
  const { version, policy_yaml, agent_yaml, system_md } = agent;
  return {
    agent_id: 'agent-1',
    agent_version_id: `v-${version}`,
    version,
    policy_yaml,
    agent_yaml,
    system_md,
  };
}

/** The same with a real bundle, made as the service makes it. */
export async function signedRecord(agent: PublishedAgent, signer: Signer): Promise<SignedRecord> {
  const parsed = parsePolicy(agent.policy_yaml);
  if (!parsed.ok) throw new Error(`The test's policy is not valid: ${JSON.stringify(parsed.errors)}`);
  const record_hash = recordHash(agent);
  const parts = {
    record: agent,
    record_hash,
    compiled: compilePolicy({ ir: parsed.ir, runtime: loadRuntime(), recordHash: record_hash }),
    agent_version_id: `v-${agent.version}`,
    created_at: '2026-01-01T00:00:00.000Z',
  };
  const { absentReason, etag: _etag, ...bundle } = await makeBundle(parts, signer.signingKey);
  if (absentReason !== undefined) throw new Error(absentReason);
  return { ...yamlRecord(agent), ...bundle };
}

/** The record with other facts in its manifest, under a valid signature. */
export async function resigned(
  record: SignedRecord,
  facts: Record<string, unknown>,
  signer: Signer,
): Promise<SignedRecord> {
  const manifest = { ...(JSON.parse(record.bundle_manifest) as Record<string, unknown>), ...facts };
  const bundle_manifest = JSON.stringify(manifest);
  return { ...record, bundle_manifest, bundle_signature_b64: await signer.sign(bundle_manifest) };
}

/** Answers as the specification requires: 304 to the same ETag, else the record. */
export function conditionally(record: Record<string, unknown>): (request: SeenRequest) => Reply {
  const etag = etagOf(record);
  return ({ headers }) =>
    headers['if-none-match'] === etag
      ? { status: 304, headers: { ETag: etag } }
      : { status: 200, headers: { ETag: etag }, json: record };
}

export function etagOf(record: Record<string, unknown>): string {
  const { bundle_wasm_b64 } = record;
  return typeof bundle_wasm_b64 === 'string'
    ? `"${sha256(Buffer.from(bundle_wasm_b64, 'base64'))}"`
    : `"yaml-${sha256(JSON.stringify(record))}"`;
}

/** Publishes these keys at the well-known path. */
export function serveKeys(mock: MockServer, ...signers: Signer[]): void {
  serveKeySet(mock, signers, []);
}

/** The same with successions. */
export function serveKeySet(mock: MockServer, signers: Signer[], successions: string[]): void {
  mock.on('GET /v1/.well-known/keys', { json: { keys: signers.map(({ jwk }) => jwk), successions } });
}

/** An agent of project p-1 that may search, and needs approval to transfer. */
export function publishedAgent(overrides: Partial<PublishedAgent> = {}): PublishedAgent {
  return {
    project_id: 'p-1',
    agent_name: 'support-bot',
    version: 1,
    agent_yaml: 'name: support-bot\n',
    system_md: 'Be kind.',
    policy_yaml: policyYaml({ allow: ['search'] }),
    ...overrides,
  };
}

/** A policy over search, write and transfer; transfer needs approval, and what is not allowed is denied. */
export function policyYaml({ allow }: { allow: string[] }): string {
  return [
    'version: 1',
    'tools: [search, write, transfer]',
    'roles:',
    `  "*": {allow: ${JSON.stringify(allow)}, approve: [transfer]}`,
    'rules: []',
    '',
  ].join('\n');
}
