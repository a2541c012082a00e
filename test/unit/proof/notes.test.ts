import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  checkpointBody,
  cosignatureFrom,
  cosignedAt,
  cosignedMessage,
  EMPTY_ROOT,
  noteText,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  ProofError,
  signatureLine,
  signaturesBy,
  verifierKeyFrom,
  verifierKeyText,
  verifyCheckpoint,
} from '../../../client/proof/index.ts';

type NoteVector = { name: string; key: string; note: string; seed?: string };

const NOTES = JSON.parse(
  readFileSync(new URL('../../vectors/log/notes.json', import.meta.url), 'utf8'),
) as NoteVector[];
const vector = (at: number): NoteVector => NOTES[at] as NoteVector;
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function signEd25519(seed: Uint8Array, message: string): Uint8Array {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  return Uint8Array.from(sign(null, Buffer.from(message), key));
}

describe('signed notes, checkpoints and verifier keys', () => {
  for (const { name, key: keyText, note: text } of NOTES) {
    it(`verifies: ${name}`, () => {
      const key = parseVerifierKey(keyText);
      const note = parseNote(text);

      expect(verifierKeyText(key)).to.equal(keyText);
      expect(noteText(note)).to.equal(text);
      expect(signaturesBy(key, note)).to.have.length(1);
      const altered = { ...note, body: note.body.replace(/[a-z]/, 'X') };
      expect(() => signaturesBy(key, altered)).to.throw(ProofError);
    });
  }

  it('refuses a note with a signature by the key that is too short to be one', () => {
    const { key: keyText, note: text } = vector(0);
    const { name, keyId, publicKey } = parseVerifierKey(keyText);
    const { body } = parseNote(text);
    for (const type of ['ed25519', 'cosignature'] as const)
      for (const length of [1, 8, 9, 63]) {
        const signatures = [{ name, keyId, signature: new Uint8Array(length) }];
        expect(() => signaturesBy({ name, keyId, type, publicKey }, { body, signatures })).to.throw(
          ProofError,
        );
      }
    expect([8, 9].map((length) => cosignedAt(new Uint8Array(length)))).to.deep.equal([undefined, 0]);
  });

  it('refuses a public key of small order, for which anybody can sign anything', () => {
    // One of the points of order 8. With S = 0, the equation of RFC 8032 section 5.1.7, times 8, holds for every message.
    const point = 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a';
    const publicKey = Uint8Array.from(Buffer.from(point, 'hex'));
    const key = verifierKeyFrom({ name: 'log.example', type: 'ed25519', publicKey });
    const signature = Uint8Array.from(Buffer.concat([publicKey, Buffer.alloc(32)]));
    const { name, keyId } = key;
    for (const body of ['a\n', 'b\n', 'c\n', 'd\n', 'e\n', 'f\n', 'g\n', 'h\n'])
      expect(() => signaturesBy(key, { body, signatures: [{ name, keyId, signature }] })).to.throw(
        ProofError,
      );
  });

  it('signs a note as golang.org/x/mod does', () => {
    const { key: keyText, note, seed = '' } = vector(1);
    const { name, keyId } = parseVerifierKey(keyText);
    const { body } = parseNote(note);

    const signature = signEd25519(Buffer.from(seed, 'base64'), body);

    expect(note).to.include(signatureLine({ name, keyId, signature }));
  });

  it('accepts no other text as a verifier key: no part of it, and none with one byte changed', () => {
    const { key } = vector(1);
    const others = Array.from(key, (character, at) => {
      const next = String.fromCharCode(character.charCodeAt(0) + 1);
      return [key.slice(0, at), key.slice(at + 1), key.slice(0, at) + next + key.slice(at + 1)];
    }).flat();
    const badLength = 'PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==';
    const badType = 'PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';

    for (const text of [...others, badLength, badType])
      expect(() => parseVerifierKey(text), text).to.throw(ProofError);
  });

  it('writes a key id with all of its eight digits', () => {
    const publicKey = new Uint8Array(32);
    const keys = Array.from({ length: 500 }, (_, at) =>
      verifierKeyFrom({ name: `log-${at}`, type: 'ed25519', publicKey }),
    );
    const key = keys.find(({ keyId }) => keyId < 0x1000_0000);
    expect(key && parseVerifierKey(verifierKeyText(key))).to.deep.equal(key);
    expect(key && verifierKeyText(key)).to.match(/^log-\d+\+0[0-9a-f]{7}\+/);
  });

  it('creates no key from a name with a plus or a space, of no name, or of 31 bytes', () => {
    const made = ['a+b', 'a b', 'a\u00a0b', 'a\x7f', 'a\ud800', ''].map(
      (name) => () => verifierKeyFrom({ name, type: 'ed25519', publicKey: new Uint8Array(32) }),
    );
    made.push(() => verifierKeyFrom({ name: 'a', type: 'ed25519', publicKey: new Uint8Array(31) }));
    for (const make of made) expect(make).to.throw(ProofError);
  });

  it('ignores signatures by other keys, even with the name or the id of its own key', () => {
    const { key: keyText, note: text } = vector(0);
    const key = parseVerifierKey(keyText);
    const note = parseNote(text);

    expect(signaturesBy({ ...key, name: 'example.com/bar' }, note)).to.deep.equal([]);
    expect(signaturesBy({ ...key, keyId: key.keyId + 1 }, note)).to.deep.equal([]);
  });

  it('reads and verifies the checkpoint of a public log', () => {
    const { note } = vector(2);

    const { origin, size, root, signatures } = parseCheckpoint(note);

    expect({ origin, size, root: Buffer.from(root).toString('base64') }).to.deep.equal({
      origin: 'arche2025h1.staging.ct.transparency.dev',
      size: 1_432_088_532,
      root: 'U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=',
    });
    expect(signatures.map(({ signature }) => cosignedAt(signature.slice(0, 72))).at(-1)).to.equal(
      1_779_573_024,
    );
    expect(checkpointBody({ origin, size, root })).to.equal(parseNote(note).body);
  });

  it('verifies a checkpoint only with the key of its log, and a cosignature only with its time', () => {
    const seed = Buffer.alloc(32, 7);
    const jwk = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' }).export({
      format: 'jwk',
    });
    const publicKey = Uint8Array.from(Buffer.from(String(jwk.x), 'base64url'));
    const log = verifierKeyFrom({ name: 'gatehouse/one', type: 'ed25519', publicKey });
    const witness = verifierKeyFrom({ name: 'witness.example/w1', type: 'cosignature', publicKey });
    const body = checkpointBody({ origin: log.name, size: 0, root: EMPTY_ROOT });
    const signature = { name: log.name, keyId: log.keyId, signature: signEd25519(seed, body) };
    const cosignature = {
      name: witness.name,
      keyId: witness.keyId,
      signature: cosignatureFrom(1_700_000_000, signEd25519(seed, cosignedMessage(body, 1_700_000_000))),
    };
    const late = {
      ...cosignature,
      signature: cosignatureFrom(1_700_000_001, cosignature.signature.slice(8)),
    };
    const text = noteText({ body, signatures: [signature, cosignature] });

    expect(verifyCheckpoint(text, log).size).to.equal(0);
    expect(signaturesBy(witness, parseNote(text))).to.have.length(1);
    expect(() => verifyCheckpoint(text, { ...log, name: 'gatehouse/two' })).to.throw('of gatehouse/one');
    expect(() => verifyCheckpoint(noteText({ body, signatures: [cosignature] }), log)).to.throw('not signed');
    expect(() => signaturesBy(witness, { body, signatures: [late] })).to.throw('does not hold');
  });

  it('refuses texts that are neither notes nor checkpoints', () => {
    const line = vector(0).note.split('\n')[2] ?? '';
    const notNotes = [
      '', 'text\n', `text\n${line}\n`, `text\n\n${line}`, 'text\n\n', `te\txt\n\n${line}\n`, `te\rxt\n\n${line}\n`,
      `text\n\n${line} \n`, `text\n\n${line.slice(0, -1)}\n`, 'text\n\n— a+b AAAAAAA=\n', 'text\n\n— ab AAAAAA==\n',
      'text\n\n- ab AAAAAAAA\n', `te\ud800xt\n\n${line}\n`, `text\n\nx${line}\n`, `x${line}\n`,
    ]; // prettier-ignore
    const root = Buffer.alloc(32, 1).toString('base64');
    const empty = Buffer.from(EMPTY_ROOT).toString('base64');
    const notCheckpoints = [
      'o\n1\n', `\n1\n${root}\n`, `o\n01\n${root}\n`, `o\n-1\n${root}\n`, `o\n1e3\n${root}\n`, `o\n1\n${root.slice(4)}\n`,
      `o\n1\n${root}\n\n`, `o\n1\n${root}\nx\n\ny\n`, `o\n0\n${root}\n`, `o\n9007199254740993\n${root}\n`, `o\n1\n${root}=\n`,
    ]; // prettier-ignore

    for (const text of notNotes) expect(() => parseNote(text), JSON.stringify(text)).to.throw(ProofError);
    for (const body of notCheckpoints)
      expect(() => parseCheckpoint(`${body}\n${line}\n`), JSON.stringify(body)).to.throw(ProofError);
    expect(parseCheckpoint(`o\n0\n${empty}\nextension\n\n${line}\n`).size).to.equal(0);
  });
});
