import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  base64From,
  consistencyProof,
  EMPTY_ROOT,
  entriesOfBundle,
  entryOf,
  hashesOfTile,
  leafHash,
  type RecordProof,
  rootOf,
  tilePath,
  tilesOfTree,
  treeRoot,
  verifierKeyText,
  verifyConsistency,
  verifyRecordProof,
} from '../../client/proof/index.ts';
import { sendDecision, timeFromNow } from '../support/audit.ts';
import { sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { askLog, checkpointFrom, logBytes, logKey, logText, proofOf } from '../support/log.ts';
import { ask, type Problem } from '../support/reads.ts';
import { sharedService, useSharedService } from '../support/shared-service.ts';

/** Texts that JSON may write in several ways. */
const HOSTILE = [
  '/path/</script>',
  '"\\',
  '\u0000\u0001\u001f\u007f\u2028\u2029',
  'é😀\u{10ffff}',
  '\t\n\r\b\f',
  '%{}[]',
];

describe('the log of a project', () => {
  const service = useSharedService();

  it('answers 404 for an impossible log name', async () => {
    for (const id of ['a%20b', 'a%0Bb', 'a+b'])
      for (const path of ['checkpoint', 'vkey'])
        expect((await fetch(`${service.url}/v1/projects/${id}/log/${path}`)).status).to.equal(404);
  });

  it('begins with a signed checkpoint of size 0', async () => {
    const response = await askLog(service, 'checkpoint');
    const key = await logKey(service);

    const checkpoint = await checkpointFrom(service, 0);

    expect(response.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
    expect(key.name).to.equal(`gatehouse/${service.project_id}`);
    expect(await logText(service, 'vkey')).to.equal(`${verifierKeyText(key)}\n`);
    expect(checkpoint).to.deep.include({ origin: key.name, size: 0, root: EMPTY_ROOT });
    expect(checkpoint.signatures).to.have.length(1);
  });

  it('proves each record with the line of the export, byte for byte, whatever the texts', async () => {
    const events = HOSTILE.map((text) =>
      decisionEvent({
        tool_name: text,
        reason: text,
        violations: [text, text],
        hint: { [text]: text },
        arguments: { [text]: [text, 1e21, -0, 0.1] },
        role: text.slice(0, 3),
        user_id: text,
        session_id: text,
        occurred_at: timeFromNow(-60_000),
      }),
    ).map((event) => JSON.parse(JSON.stringify(event).replaceAll('\\u0000', '')) as typeof event);
    for (const event of events) expect((await sendDecision(service, event)).status).to.equal(202);
    const key = await logKey(service);

    const proofs = await Promise.all(events.map(({ event_id }) => proofOf(service, String(event_id))));

    const { text: exported } = await ask(service, 'decisions/export');
    const lines = exported.trimEnd().split('\n');
    for (const proof of proofs) {
      expect(lines).to.include(proof.line);
      expect(verifyRecordProof(proof, key)).to.deep.equal({ entry: true, inclusion: true, checkpoint: true });
      const entry = entryOf(Buffer.from(proof.salt, 'base64'), proof.line);
      expect(proof.entry).to.equal(base64From(entry));
    }
    const { text: places } = await ask(service, 'decisions/export/proofs');
    const expected = lines.map((line) => {
      const { event_id } = JSON.parse(line) as { event_id: string };
      const proof = proofs.find((one) => one.event_id === event_id) as RecordProof;
      return { event_id, index: proof.index, salt: proof.salt };
    });
    expect(
      places
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).to.deep.equal(expected);
  });

  it('refuses any change of a proof', async () => {
    const { event_id } = decisionEvent();
    await sendDecision(service, decisionEvent({ event_id }));
    const proof = await proofOf(service, String(event_id));
    const key = await logKey(service);
    const other = Buffer.alloc(32, 1).toString('base64');
    const shortSalt = Buffer.alloc(15);

    const verdicts = [
      { ...proof, line: proof.line.replace('allow', 'deny') },
      { ...proof, salt: Buffer.alloc(16).toString('base64') },
      { ...proof, salt: base64From(shortSalt), entry: base64From(entryOf(shortSalt, proof.line)) },
      { ...proof, event_id: randomUUID() },
      { ...proof, index: proof.index + 1 },
      { ...proof, tree_size: proof.tree_size + 1 },
      { ...proof, inclusion: [other, ...proof.inclusion.slice(1)] },
      { ...proof, checkpoint: proof.checkpoint.replace(/\n\d+\n/, '\n3\n') },
      { ...proof, checkpoint: 'no checkpoint', inclusion: ['no base64'] },
    ].map((changed) => verifyRecordProof(changed, key));

    expect(verdicts.map((verdict) => Object.values(verdict).map(Number).join(''))).to.deep.equal(
      ['011', '011', '001', '011', '101', '100', '101', '100', '100'],
    ); // prettier-ignore
    expect(verifyRecordProof(proof, { ...key, publicKey: Buffer.alloc(32, 2) }).checkpoint).to.equal(false);
  });

  it('answers 404 for the proof of a missing record, and 409 before a record is in the log', async () => {
    const fresh = decisionEvent();
    await sendDecision(service, fresh);
    const early = await ask(service, `decisions/${String(fresh['event_id'])}/proof`);
    const missing = await ask(service, `decisions/${randomUUID()}/proof`);
    const odd = await ask(service, 'decisions/odd/proof');

    expect([missing, odd].map(({ status }) => status)).to.deep.equal([404, 404]);
    expect(early.status).to.equal(409);
    expect((JSON.parse(early.text) as Problem).code).to.equal('proof_pending');
    expect(early.headers.get('retry-after')).to.equal('2');
    await proofOf(service, String(fresh['event_id']));
  });

  it('has tiles and entries that add up to its checkpoint, and extends its earlier checkpoints', async () => {
    const project = await sharedService();
    const sizes = [200, 101];
    const checkpoints = [];
    let size = 0;
    for (const count of sizes) {
      await sendBatch(
        project,
        Array.from({ length: count }, () => decisionEvent()),
      );
      size += count;
      checkpoints.push(await checkpointFrom(project, size));
    }
    const [small, large] = checkpoints as [(typeof checkpoints)[0], (typeof checkpoints)[0]];

    const tiles = new Map<string, Buffer>();
    for (const tile of tilesOfTree(size)) tiles.set(tilePath(tile), await logBytes(project, tilePath(tile)));
    const readTile = async (tile: Parameters<typeof tilePath>[0]) =>
      Promise.resolve(tiles.get(tilePath(tile)) as Uint8Array);
    const bundles = ['tile/entries/000', 'tile/entries/001.p/45'];
    const entries = await Promise.all(bundles.map((path) => logBytes(project, path)));

    expect([...tiles.keys()]).to.deep.equal(['tile/0/000', 'tile/0/001.p/45', 'tile/1/000.p/1']);
    expect(await treeRoot(size, readTile)).to.deep.equal(large.root);
    const [bundle = Buffer.alloc(0)] = entries;
    const leaves = entriesOfBundle(bundle, 256).map(leafHash);
    expect(Buffer.concat(leaves).equals(tiles.get('tile/0/000') ?? Buffer.alloc(0))).to.equal(true);
    expect(Buffer.from(rootOf(leaves)).equals(tiles.get('tile/1/000.p/1') ?? Buffer.alloc(0))).to.equal(true);
    const proof = await consistencyProof({ fromSize: small.size, toSize: large.size }, readTile);
    const claim = {
      fromSize: small.size,
      fromRoot: small.root,
      toSize: large.size,
      toRoot: large.root,
      proof,
    };
    expect(verifyConsistency(claim)).to.equal(true);
    expect(hashesOfTile(await logBytes(project, 'tile/0/000.p/7'), 7)).to.deep.equal(
      hashesOfTile(tiles.get('tile/0/000') ?? Buffer.alloc(0), 256).slice(0, 7),
    );
  });

  it('grows together with that of another project, at the first attempt', async () => {
    const pair = [await sharedService(), await sharedService()];
    const before = service.output().length;

    await Promise.all(pair.map((project) => sendDecision(project, decisionEvent())));
    const heads = await Promise.all(pair.map((project) => checkpointFrom(project, 1)));

    expect(heads.map(({ size }) => size)).to.deep.equal([1, 1]);
    expect(service.output().slice(before)).not.to.include('Cannot write the log yet');
  });

  it('serves tiles to be kept forever, and 404 for all other paths', async () => {
    await sendDecision(service, decisionEvent());
    await checkpointFrom(service, 1);
    const full = await askLog(service, 'tile/0/000.p/1');
    const paths = [
      'tile/0/000', 'tile/0/001', 'tile/1/000', 'tile/0/0', 'tile/0/000.p/0', 'tile/0/000.p/256', 'tile/00/000',
      'tile/64/000', 'tile/-1/000', 'tile/0/x000/000', 'tile/0/000.p/01', 'tile/entries/000', 'tile/entries/',
      'tile/', 'tile', 'tile/0/999.p/9', 'tile/0/x999/x999/x999/x999/999', 'tile/63/000.p/1', 'tile/0/000.p/1/', 'other',
      'tile/0/%30%30%30', 'tile/0/x000%2F000',
    ]; // prettier-ignore
    const statuses = await Promise.all(paths.map(async (path) => (await askLog(service, path)).status));

    expect(full.status).to.equal(200);
    expect(full.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    expect(full.headers.get('content-type')).to.equal('application/octet-stream');
    expect(statuses).to.deep.equal(paths.map(() => 404));
  });
});
