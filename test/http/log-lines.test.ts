import { expect } from 'chai';
import { createHash, randomUUID } from 'node:crypto';
import { entriesOfBundle, type RecordProof } from '../../client/proof/index.ts';
import { sendDecision } from '../support/audit.ts';
import { sendBatch } from '../support/batch.ts';
import { checkpointFrom, logBytes, proofOf } from '../support/log.ts';
import { useSharedService } from '../support/shared-service.ts';

const NUMBERS =
  '{"n":9007199254740993,"e":1e400,"d":0.10,"z":-0,"p":1E+5,"t":1.0e-7,"f":-12345678901234567890.5}';
const TEXTS =
  '{"lone":"\\ud800","low":"\\udc00x","nul":"\\u0000","c0":"\\u0001\\b\\t\\n\\f\\r\\u001f","del":"\u007f\u0080","sep":"\u2028\u2029",' +
  '"quoted":"\\"\\\\\\/","/":"</script>","😀":"\\ud83d\\ude00","":""}';
const NAMES = '{"__proto__":{"a":1},"constructor":null,"toString":[],"a":{"a":{"a":{}}},"1":1,"0":0}';

/** Bodies that JSON may write in several ways, without event_id and occurred_at. */
const BODIES = [
  '"outcome":"allow"',
  '"outcome":"allow","hint":null,"arguments":null',
  '"outcome":"deny","hint":{},"arguments":{}',
  `"outcome":"deny","hint":${NUMBERS},"arguments":${NUMBERS}`,
  `"outcome":"needs_approval","hint":${TEXTS},"arguments":${TEXTS}`,
  `"outcome":"allow","hint":${NAMES},"arguments":${NAMES}`,
  '"outcome":"allow","arguments":{"a":[[],{},[[]],"",null,true,false,[ 1 , 2 ]]}',
  '"outcome":"allow","role":"","reason":"","violations":[],"user_id":"","session_id":"","error_type":""',
  '"outcome":"allow","reason":"\\u0001\\u001f\\u007f\\u2028/\\\\\\"</script>é😀","violations":["","\\t","/","\'"],"user_id":"\\ufeff\\uffff","session_id":"%{}[]","role":"\\r\\n"',
  '"outcome":"allow","error_type":"/","unknown":{"a":1},"project_id":"p","received_at":"x"',
];

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();

describe('the line of a record, which the log proves', () => {
  const service = useSharedService();
  const ids: string[] = [];

  before(`${2 * BODIES.length} events, half of them in a batch`, async () => {
    const eventOf = (body: string) => {
      const id = randomUUID();
      ids.push(id);
      return `{"event_id":"${id}","occurred_at":"${new Date().toISOString()}","agent_name":"a/\\u00e9","tool_name":"t\\\\",${body}}`;
    };
    for (const body of BODIES) {
      expect((await sendDecision(service, eventOf(body))).status, body).to.equal(202);
    }
    const answer = await sendBatch(service, BODIES.map(eventOf));
    expect(answer.status, await answer.text()).to.equal(202);
    await checkpointFrom(service, ids.length);
  });

  async function bytesOf(path: string): Promise<Buffer> {
    const response = await fetch(`${service.url}/v1/projects/${service.project_id}/audit/decisions/${path}`);
    expect(response.status).to.equal(200);
    return Buffer.from(await response.arrayBuffer());
  }

  it('is the line of the export: its bytes and the salt give the entry at its index', async () => {
    const lines = linesOf(await bytesOf('export'));
    const proofs = linesOf(await bytesOf('export/proofs')).map(
      (line) => JSON.parse(line.toString()) as { event_id: string; index: number; salt: string },
    );
    const entries = entriesOfBundle(await logBytes(service, `tile/entries/000.p/${ids.length}`), ids.length);

    expect(lines.length).to.equal(ids.length);
    for (const [at, { event_id, index, salt }] of proofs.entries()) {
      const line = lines[at] as Buffer;
      expect(line.subarray(0, 50).toString()).to.equal(`{"event_id":"${event_id}"`);
      expect(Buffer.from(entries[index] ?? []), line.toString()).to.deep.equal(
        sha256(Buffer.from(salt, 'base64'), line),
      );
    }
    expect(proofs.map(({ index }) => index).sort((a, b) => a - b)).to.deep.equal([...ids.keys()]);
  });

  it('is the same in the proof of the record', async () => {
    const lines = new Map(linesOf(await bytesOf('export')).map((line) => [idIn(line), line]));

    for (const id of ids) {
      const { line, entry, salt }: RecordProof = await proofOf(service, id);
      const bytes = Buffer.from(line);
      expect(bytes).to.deep.equal(lines.get(id));
      expect(sha256(Buffer.from(salt, 'base64'), bytes).toString('base64')).to.equal(entry);
    }
  });

  it('keeps arguments and hint digit for digit and escape for escape', async () => {
    const texts = linesOf(await bytesOf('export')).map(String);

    const kept = (text: string) => texts.filter((line) => line.includes(text)).length;
    expect(kept(`"hint":${NUMBERS},"arguments":${NUMBERS}`)).to.equal(2);
    expect(kept('"hint":{},"arguments":{}')).to.equal(2);
    expect(kept('"lone":"\\ud800","low":"\\udc00x","nul":"\\u0000"')).to.equal(2);
    expect(kept('"hint":null,"arguments":null')).to.equal(2 * 5);
  });
});

/** By bytes, because a text decoder would hide invalid UTF-8. */
function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let to = bytes.indexOf(10); to >= 0; to = bytes.indexOf(10, from)) {
    lines.push(bytes.subarray(from, to));
    from = to + 1;
  }
  expect(from).to.equal(bytes.length);
  return lines;
}

function idIn(line: Buffer): string {
  return line.subarray(13, 49).toString();
}
