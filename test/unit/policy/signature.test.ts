import { expect } from 'chai';
import { parseManifest } from '../../../client/policy/parse-manifest.ts';
import { PolicyError } from '../../../client/errors.ts';
import { verifyBundle } from '../../../client/policy/verify-bundle.ts';
import { signManifest } from '../../../server/policy/sign-bundle.ts';

// RFC 8032, 7.1: seed, public key, message and signature, for messages that are valid UTF-8.
const VECTORS = [
  {
    seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: 'r',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
];

function bytes(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

/** The code of the error when a bundle with this manifest is verified. */
async function refusalOf(text: string, by: { signature: string; publicKey: Uint8Array }): Promise<string> {
  const bundle = { bundle_wasm_b64: 'AA==', bundle_manifest: text, bundle_signature_b64: by.signature };
  const record = { agent_yaml: '', policy_yaml: '', system_md: '', ...bundle };
  const verifying = verifyBundle({ record, publicKey: by.publicKey, agentName: 'a' });
  const error: unknown = await verifying.catch((caught: unknown) => caught);
  expect(error).to.be.instanceOf(PolicyError);
  return (error as PolicyError).code;
}

describe('signatures (RFC 8032)', () => {
  for (const { seed, message, signature } of VECTORS) {
    it(`a message of ${message.length} bytes is signed as in the vector`, async () => {
      const signed = await signManifest(message, { kid: 'k', seed: bytes(seed) });

      expect(Buffer.from(signed, 'base64').toString('hex')).to.equal(signature);
    });
  }

  it('the verifier accepts the signature of the vector, then parses the text', async () => {
    const [, vector] = VECTORS;
    if (vector === undefined) throw new Error('no vector');
    const publicKey = bytes(vector.publicKey);
    const signature = Buffer.from(vector.signature, 'hex').toString('base64');

    expect(await refusalOf('r', { signature, publicKey })).to.equal('manifest_invalid');
    expect(await refusalOf('s', { signature, publicKey })).to.equal('signature_invalid');
  });

  it('a small-order key, whose signatures fit any text, is refused', async () => {
    const publicKey = bytes('0100000000000000000000000000000000000000000000000000000000000000');
    const signature = Buffer.concat([publicKey, new Uint8Array(32)]).toString('base64');

    expect(await refusalOf('{}', { signature, publicKey })).to.equal('signature_invalid');
  });
});

describe('a signed manifest', () => {
  const good = {
    format: 'gatehouse-bundle/1',
    kid: 'k',
    project_id: 'p',
    agent_name: 'a',
    agent_version_id: 'v',
    version: 1,
    abi: 1,
    wasm_hash: '0'.repeat(64),
    record_hash: '0'.repeat(64),
    created_at: '2026-01-02T03:04:05.678Z',
  };

  it('is read', () => {
    expect(parseManifest(JSON.stringify(good))).to.deep.equal(good);
  });

  const bad = {
    format: 'gatehouse-bundle/2',
    kid: 1,
    version: 1.5,
    abi: 2,
    wasm_hash: 'x',
    record_hash: null,
  };
  for (const [name, value] of Object.entries(bad)) {
    it(`is refused with ${name} ${String(value)}, and without it`, () => {
      expect(() => parseManifest(JSON.stringify({ ...good, [name]: value }))).to.throw(PolicyError, name);
      expect(() => parseManifest(JSON.stringify({ ...good, [name]: undefined }))).to.throw(PolicyError, name);
    });
  }

  it('is refused if it is not an object', () => {
    for (const text of ['', 'null', '[]', '1']) expect(() => parseManifest(text)).to.throw(PolicyError);
  });
});
