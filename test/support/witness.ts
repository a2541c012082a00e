import { createPrivateKey, createPublicKey, randomBytes, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import {
  bytesFromStrictBase64,
  type Checkpoint,
  cosignatureFrom,
  cosignedMessage,
  parseVerifierKey,
  parseCheckpoint,
  ProofError,
  signatureLine,
  type VerifierKey,
  verifierKeyFrom,
  verifierKeyText,
  verifyCheckpoint,
  verifyConsistency,
} from '../../client/proof/index.ts';
import { listen } from './listen.ts';

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A witness over HTTP, according to C2SP tlog-witness. It knows the logs that it was told about. */
export type TestWitness = {
  /** In the form of GATE_WITNESSES. */
  setting: string;
  key: VerifierKey;
  /** The statuses it answered, in order. */
  answered: number[];
  /** Its latest checkpoint by origin. */
  seen: Map<string, Checkpoint>;
  /** Its misbehaviour. */
  misbehave: ((body: string) => Verdict | undefined | Promise<Verdict | undefined>) | undefined;
  trust(vkey: string): void;
  close(): Promise<void>;
};

export async function startWitness(name: string): Promise<TestWitness> {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8, randomBytes(32)]),
    format: 'der',
    type: 'pkcs8',
  });
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  const publicKey = Uint8Array.from(Buffer.from(String(x), 'base64url'));
  const key = verifierKeyFrom({ name, type: 'cosignature', publicKey });
  const logs = new Map<string, VerifierKey>();
  const server = createServer((req, res) => {
    void textOf(req).then(async (body) => {
      const { status, text, type = 'text/plain' }: Verdict = (await witness.misbehave?.(body)) ?? judge(body);
      witness.answered.push(status);
      res.writeHead(req.url === '/base/add-checkpoint' && req.method === 'POST' ? status : 404, {
        'Content-Type': type,
      });
      res.end(text);
    });
  });
  const port = await listen(server);
  const witness: TestWitness = {
    setting: `http://127.0.0.1:${port}/base/ ${verifierKeyText(key)}`,
    key,
    answered: [],
    seen: new Map(),
    misbehave: undefined,
    trust: (vkey) => {
      const log = parseVerifierKey(vkey.trimEnd());
      logs.set(log.name, log);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return witness;

  function judge(body: string): Verdict {
    const end = body.indexOf('\n\n');
    const [old = '', ...lines] = body.slice(0, end).split('\n');
    const text = body.slice(end + 2);
    const oldSize = Number(/^old (0|[1-9]\d*)$/.exec(old)?.[1] ?? Number.NaN);
    const proof = lines.map((line) => bytesFromStrictBase64(line) ?? new Uint8Array());
    try {
      const { origin } = parseCheckpoint(text);
      const log = logs.get(origin);
      if (log === undefined) return { status: 404, text: '' };
      return cosign(verifyCheckpoint(text, log), { oldSize, proof });
    } catch (error) {
      if (error instanceof ProofError) return { status: 403, text: error.message };
      throw error;
    }
  }

  function cosign(
    checkpoint: Checkpoint,
    { oldSize, proof }: { oldSize: number; proof: Uint8Array[] },
  ): Verdict {
    const { origin, size, root } = checkpoint;
    if (!(oldSize <= size)) return { status: 400, text: '' };
    const before = witness.seen.get(origin);
    if (oldSize !== (before?.size ?? 0))
      return { status: 409, text: `${before?.size ?? 0}\n`, type: 'text/x.tlog.size' };
    const isConsistent =
      before === undefined || oldSize === 0
        ? proof.length === 0
        : verifyConsistency({ fromSize: oldSize, fromRoot: before.root, toSize: size, toRoot: root, proof });
    if (!isConsistent) return { status: 422, text: '' };
    witness.seen.set(origin, checkpoint);
    const seconds = Math.floor(Date.now() / 1000);
    const signed = sign(null, Buffer.from(cosignedMessage(checkpoint.body, seconds)), privateKey);
    const signature = cosignatureFrom(seconds, Uint8Array.from(signed));
    return { status: 200, text: signatureLine({ name, keyId: key.keyId, signature }) };
  }
}

type Verdict = { status: number; text: string; type?: string };
