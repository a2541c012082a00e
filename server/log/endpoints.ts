import { bundleFrom, parseTilePath, tileWidth, verifierKeyText } from '../../client/proof/index.ts';
import type { RecordReads } from '../activity/record-reads.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { answer, COUNT, listOf, PROJECT_ID, STRING, UUID } from '../http/schemas.ts';
import type { Witness } from '../config-values.ts';
import type { RunRead, RunReadBytes } from '../store/read-pool.ts';
import { type LogHeads, ProjectLog } from './project-log.ts';
import { readProof } from './read-proof.ts';
import { Type } from '../type.ts';

export type LogDeps = {
  logHeads: LogHeads;
  witnesses: readonly Witness[];
  runRead: RunRead;
  runReadBytes: RunReadBytes;
  readAuth: 'open' | 'required';
  recordReads: RecordReads;
  now: () => number;
};

const LOG = {
  method: 'GET',
  tag: 'Transparency log',
  allow: { role: 'viewer', scope: 'read_audit', open: 'anonymous' },
  params: { id: PROJECT_ID },
  problems: ['overloaded'],
} as const;
/** not_found: for a text that cannot be the id of a project. */
const SIGNED = [...LOG.problems, 'log_key_mismatch', 'not_found'] as const;
const TEXT = 'text/plain; charset=utf-8';

const BASE64 = Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$' });
const PROOF = answer(
  {
    event_id: UUID,
    index: COUNT,
    entry: BASE64,
    salt: BASE64,
    line: Type.String({ description: 'The record as a line of the NDJSON export, without its newline' }),
    tree_size: COUNT,
    inclusion: Type.Array(BASE64),
    checkpoint: Type.String({ description: 'The signed checkpoint of this tree' }),
  },
  'Proof',
);

const WITNESS = answer(
  {
    name: STRING,
    vkey: Type.String({ description: 'The key of its cosignatures, in one line (C2SP signed-note)' }),
    size: Type.Integer({
      minimum: 0,
      description: 'The size of the largest checkpoint that it signed; 0: none',
    }),
    checkpoint: Type.Union([Type.String(), Type.Null()], {
      description:
        'That checkpoint with its cosignatures; null when there is none, or when the log is smaller',
    }),
  },
  'LogWitness',
);

/** The log of each project, in the formats of C2SP, and the proofs of single records. */
export function logEndpoints(deps: LogDeps) {
  const { logHeads, witnesses, runRead, runReadBytes, readAuth, recordReads, now } = deps;
  const logOf = ({ params, signal }: { params: { id: string }; signal: AbortSignal }) =>
    new ProjectLog(params.id, logHeads, {
      query: (text, given = {}) => runRead(text, given, signal),
      queryBytes: (text, given = {}) => runReadBytes(text, given, signal),
    });
  const immutable = `${readAuth === 'open' ? 'public' : 'private'}, max-age=31536000, immutable`;
  return [
    endpoint({
      ...LOG,
      path: '/v1/projects/{id}/log/checkpoint',
      id: 'readCheckpoint',
      summary: 'Read the checkpoint of the log',
      description:
        'The signed head of the log (C2SP tlog-checkpoint): size and root, with the cosignatures of witnesses. A project without records has one of size 0.',
      answers: { 200: { description: 'A signed note', mediaTypes: ['text/plain'] } },
      problems: SIGNED,
      handle: async (call) => {
        const { checkpoint } = await logOf(call).newest();
        call.res.set('Content-Type', TEXT).send(checkpoint);
      },
    }),
    endpoint({
      ...LOG,
      path: '/v1/projects/{id}/log/vkey',
      id: 'readLogKey',
      summary: 'Read the key of the log',
      description:
        'The key that verifies checkpoints, in one line (C2SP signed-note). Get it once through another channel and compare: whoever forges a log also forges this answer.',
      answers: { 200: { description: 'A verifier key', mediaTypes: ['text/plain'] } },
      problems: SIGNED,
      handle: async ({ params, res }) => {
        const key = await logHeads.signer.verifierKey(params.id);
        res.set('Content-Type', TEXT).send(`${verifierKeyText(key)}\n`);
      },
    }),
    endpoint({
      ...LOG,
      path: '/v1/projects/{id}/log/witnesses',
      id: 'listWitnesses',
      summary: 'List the witnesses of the log',
      description:
        'The witnesses that this service offers checkpoints to, each with the largest one that it signed. Compare their keys with what they publish.',
      answers: { 200: { description: 'The witnesses', schema: listOf(WITNESS) } },
      problems: SIGNED,
      handle: async (call) => {
        const log = logOf(call);
        return { items: await Promise.all(witnesses.map(({ key }) => log.witnessed(key))) };
      },
    }),
    endpoint({
      ...LOG,
      path: '/v1/projects/{id}/log/tile/{tile}',
      id: 'readTile',
      summary: 'Read a tile of the log',
      description:
        'Hashes of the tree (`<L>/<N>[.p/<W>]`) or entries (`entries/<N>[.p/<W>]`), as C2SP tlog-tiles says. They never change. 404 for a path in another form, and for a tile that the log does not have yet.',
      params: {
        ...LOG.params,
        tile: Type.String({
          description: 'Level and number, with slashes',
          examples: ['0/x001/x234/067.p/12'],
        }),
      },
      restParam: 'tile',
      answers: { 200: { description: 'Hashes or entries', mediaTypes: ['application/octet-stream'] } },
      problems: [...LOG.problems, 'not_found'],
      handle: async (call) => {
        const bytes = await readTile(logOf(call), call.params.tile);
        call.res.set('Cache-Control', immutable).set('Content-Type', 'application/octet-stream').send(bytes);
      },
    }),
    endpoint({
      ...LOG,
      tag: 'Audit reads',
      path: '/v1/projects/{id}/audit/decisions/{event_id}/proof',
      id: 'readProof',
      summary: 'Prove that a decision is in the log',
      description:
        'Everything that a verifier needs to check, without trusting this service, that the record is in the log unchanged. 409 `proof_pending` with Retry-After in the first seconds after the record was received.',
      params: { ...LOG.params, event_id: Type.String({ description: 'The `event_id`, in any case' }) },
      answers: { 200: { description: 'The proof', schema: PROOF } },
      problems: [...SIGNED, 'proof_pending'],
      handle: async (call) => {
        const { id: projectId, event_id: eventId } = call.params;
        const { caller, signal, address } = call;
        await recordReads.read('decisions', { projectId, actor: caller.actor, address });
        return readProof({ runRead, log: logOf(call) }, { projectId, eventId, nowMs: now(), signal });
      },
    }),
  ];
}

async function readTile(log: ProjectLog, path: string): Promise<Buffer> {
  const tile = parseTilePath(`tile/${path}`);
  if (tile === undefined) throw new RequestError('not_found', 'The path is not that of a tile');
  const level = tile.level === 'entries' ? 0 : tile.level;
  const size = await log.size();
  if (tile.width > tileWidth(size, { level, index: tile.index }))
    throw new RequestError('not_found', `The log has ${size} entries and no such tile`);
  if (tile.level !== 'entries') return Buffer.from(await log.tile({ ...tile, level }));
  return Buffer.from(bundleFrom(await log.entries(tile)));
}
