import type { Request, Response } from 'express';
import { actorName } from '../access/access.ts';
import type { RecordActivity } from '../activity/activity.ts';
import type { RecordReads } from '../activity/record-reads.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { etagMatches, singleEntityTag } from '../http/etag.ts';
import { listOf, PROJECT_ID } from '../http/schemas.ts';
import { sendPages } from '../http/send-pages.ts';
import type { KeyIdentity } from '../keys/bearer-keys.ts';
import type { FetchResult, Metrics } from '../metrics.ts';
import type { RunRead, RunReadBytes } from '../store/read-pool.ts';
import { agentUnknown, type AgentSaver } from './agent-saver.ts';
import { readAgents, readVersion, readVersions } from './agent-reads.ts';
import type { AgentStore } from './agent-store.ts';
import { bundleOf, fetchBody, noteOf, savedBody, versionSummary } from './agent-version.ts';
import { AGENT, CHECKED, FLEET, POLICY, REGISTERED, SAVED, VERSION, VERSION_SUMMARY } from './answers.ts';
import { CHECK, EDIT, REGISTRATION, registrationFrom } from './bodies.ts';
import { checkPolicy } from './check-policy.ts';
import type { Fleet } from './fleet.ts';
import type { PolicyReader } from './policy-reader.ts';
import type { PolicyThreads } from './policy-threads.ts';
import { Type } from '../type.ts';

export type AgentDeps = {
  agentStore: AgentStore;
  agentSaver: AgentSaver;
  policyReader: PolicyReader;
  fleet: Fleet;
  metrics: Metrics;
  recordActivity: RecordActivity;
  recordReads: RecordReads;
  policyThreads: PolicyThreads;
  runRead: RunRead;
  runReadBytes: RunReadBytes;
  now: () => number;
};

const AGENT_NAME = Type.String({ minLength: 1, maxLength: 200, description: 'The name of an agent' });
const AGENT_PARAMS = { id: PROJECT_ID, name: AGENT_NAME };
const PROBLEMS = ['agent_unknown', 'overloaded'] as const;
const TAG = { tag: 'Agents and policies' } as const;
const READ = {
  ...TAG,
  method: 'GET',
  allow: { role: 'viewer', scope: 'read_audit', open: 'anonymous' },
  params: AGENT_PARAMS,
  problems: PROBLEMS,
} as const;

/** Registration and policy fetch by agents; save, history and checks for the dashboard. */
export function agentEndpoints(deps: AgentDeps) {
  return [...clientEndpoints(deps), ...editEndpoints(deps), ...historyEndpoints(deps)];
}

function clientEndpoints(deps: AgentDeps) {
  return [
    endpoint({
      ...TAG,
      method: 'GET',
      path: '/v1/agents/{name}',
      id: 'fetchPolicy',
      summary: 'Fetch a policy',
      description:
        'The policy of an agent and its signed bundle. A conditional request answers 304 without a body.',
      allow: { scope: 'fetch_policy' },
      params: { name: AGENT_NAME },
      agentOf: ({ params: { name } }) => name,
      headers: { 'If-None-Match': 'The ETag of the bundle that the caller holds' },
      answers: {
        200: { description: 'The policy', schema: POLICY, headers: ['ETag'] },
        304: { description: 'The caller holds this version', headers: ['ETag'] },
      },
      problems: PROBLEMS,
      handle: ({ req, res, caller, params: { name } }) => fetchPolicy(req, res, { ...deps, caller, name }),
    }),
    endpoint({
      ...TAG,
      method: 'POST',
      path: '/v1/agents',
      id: 'registerAgent',
      summary: 'Register an agent',
      description:
        'Registers an agent by its name and its tools. The first registration creates a default policy and a signed bundle; later ones never change the policy.',
      allow: { scope: 'register_agent' },
      agentOf: ({ body: { name } }) => name,
      body: { schema: REGISTRATION, example: { name: 'support-bot', tools: ['search'] } },
      answers: {
        200: { description: 'The agent was registered before', schema: REGISTERED },
        201: { description: 'The agent is new', schema: REGISTERED },
      },
      problems: ['overloaded'],
      handle: async ({ res, caller: { project_id: projectId, key_id }, body }) => {
        const saver = { projectId, by: `key ${key_id}` };
        const { version, created } = await deps.agentSaver.register(registrationFrom(body), saver);
        if (created) res.status(201);
        return savedBody(version, created);
      },
    }),
  ];
}

type Fetch = Pick<AgentDeps, 'policyReader' | 'fleet' | 'metrics'> & { caller: KeyIdentity; name: string };

async function fetchPolicy(
  req: Request,
  res: Response,
  { policyReader, fleet, metrics, caller, name }: Fetch,
): Promise<undefined> {
  const { project_id: projectId, key_id: keyId } = caller;
  const count = (result: FetchResult) => metrics.policyFetches.inc({ result });
  const served = await policyReader.find(projectId, name);
  if (served === undefined) {
    count('unknown');
    throw agentUnknown(name);
  }
  res.set({ ETag: served.etag, 'Cache-Control': 'private, no-cache', Vary: 'Authorization' });
  const condition = req.headers['if-none-match'];
  const held = condition === undefined ? undefined : singleEntityTag(condition);
  if (held !== undefined && held.length <= ETAG_CHARS_MAX)
    fleet.seen({ projectId, agentName: name }, { keyId, etag: held });
  const isHeld = condition !== undefined && etagMatches(condition, served.etag);
  count(isHeld ? 'not_modified' : 'fresh');
  if (isHeld) res.status(304).end();
  else res.set('Content-Type', 'application/json; charset=utf-8').end(served.body);
}

/** Our own ETags have at most 73 characters. Longer values are not ours and do not count as held. */
const ETAG_CHARS_MAX = 80;

function editEndpoints(deps: AgentDeps) {
  const editable = { ...TAG, allow: { role: 'editor', scope: 'edit_policy' }, params: AGENT_PARAMS } as const;
  return [
    endpoint({
      ...editable,
      method: 'PUT',
      path: '/v1/projects/{id}/agents/{name}',
      id: 'saveAgent',
      summary: 'Save a policy',
      description: 'Compiles, signs and saves a new version. It applies from the next run of each agent.',
      agentOf: ({ params: { name } }) => name,
      headers: { 'If-Match': 'The ETag of the version that was edited' },
      body: { schema: EDIT, example: { system_md: 'You help people.' } },
      answers: { 200: { description: 'The saved version', schema: SAVED } },
      problems: [...PROBLEMS, 'policy_invalid', 'precondition_failed'],
      handle: async ({ req, caller: { actor }, params: { id: projectId, name }, body: edit, address }) => {
        const change = { edit, ifMatch: req.headers['if-match'] };
        const saved = await deps.agentSaver.edit(name, change, { projectId, by: actorName(actor) });
        const { version, created, isNew, absentReason } = saved;
        if (isNew) {
          const detail = { agent_name: name, version: version.version, ...noteOf(version) };
          const entry = { event: 'policy_saved', project_id: projectId, detail } as const;
          await deps.recordActivity({ ...entry, actor, address });
        }
        const reason = absentReason === undefined ? {} : { bundle_absent_reason: absentReason };
        return { ...savedBody(version, created), bundle: bundleOf(version), ...reason, ...noteOf(version) };
      },
    }),
    endpoint({
      ...editable,
      method: 'POST',
      path: '/v1/projects/{id}/agents/{name}/check',
      id: 'checkPolicy',
      summary: 'Check a draft',
      // It reads recorded decisions, so the right to read is not enough.
      description:
        'Checks a policy without saving it: its errors, its decisions for given calls, and what it changes for recorded calls, compared with what was recorded and with the saved policy.',
      agentOf: ({ params: { name } }) => name,
      body: { schema: CHECK, example: { policy_yaml: 'version: 1\n', calls: [{ tool: 'search' }] } },
      answers: { 200: { description: 'The result', schema: CHECKED } },
      problems: ['overloaded'],
      handle: async (call) => {
        const { caller, body, text, signal, params, address } = call;
        const { id: projectId, name: agentName } = params;
        if (body.replay !== undefined)
          await deps.recordReads.read('replay', { projectId, actor: caller.actor, address });
        return checkPolicy(body, { ...deps, projectId, agentName, text, signal });
      },
    }),
  ];
}

async function* agentList(pages: ReturnType<typeof readAgents>): AsyncGenerator<string> {
  let before = '{"items":[';
  for await (const page of pages) {
    const items = page.map((agent) => JSON.stringify({ ...versionSummary(agent), tools: agent.tools }));
    yield before + items.join(',');
    before = ',';
  }
  yield before === ',' ? ']}' : `${before}]}`;
}

function historyEndpoints({ fleet, runRead }: AgentDeps) {
  const versionsOf = async (projectId: string, name: string, signal: AbortSignal) => {
    const [latest, ...older] = await readVersions({ projectId, agentName: name, runRead, signal });
    if (latest === undefined) throw agentUnknown(name);
    return { latest, all: [latest, ...older] };
  };
  return [
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/agents',
      id: 'listAgents',
      summary: 'List agents',
      description: 'The agents of a project with their latest versions.',
      params: { id: PROJECT_ID },
      problems: ['overloaded'],
      answers: { 200: { description: 'The agents', schema: listOf(AGENT) } },
      handle: async ({ req, res, params, signal }) => {
        const pages = agentList(readAgents({ projectId: params.id, runRead, signal }));
        await sendPages({ req, res }, { pages, describe: () => void res.type('json') });
        return undefined;
      },
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/agents/{name}/versions',
      id: 'listVersions',
      summary: 'List versions',
      description: 'The versions of an agent, newest first.',
      answers: { 200: { description: 'The versions', schema: listOf(VERSION_SUMMARY) } },
      handle: async ({ params, signal }) => {
        const { all } = await versionsOf(params.id, params.name, signal);
        return { items: all.map(versionSummary) };
      },
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/agents/{name}/versions/{version}',
      id: 'showVersion',
      summary: 'Get a version',
      description: 'One version with its texts and its bundle.',
      params: { ...AGENT_PARAMS, version: Type.Integer({ minimum: 1 }) },
      problems: ['not_found', 'overloaded'],
      answers: { 200: { description: 'The version', schema: VERSION } },
      handle: async ({ params: { id, name, version }, signal }) => {
        const isNumber = /^[1-9]\d{0,8}$/.test(version);
        const of = { projectId: id, agentName: name, runRead, signal };
        const found = isNumber ? await readVersion(Number(version), of) : undefined;
        if (found === undefined)
          throw new RequestError('not_found', `The agent "${name}" has no version ${version}`);
        return { ...versionSummary(found), tools: found.tools, ...fetchBody(found) };
      },
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/agents/{name}/fleet',
      id: 'showFleet',
      summary: 'Show which versions clients hold',
      description:
        'The versions that the bearer keys of the project fetched from this process in the last 24 hours.',
      answers: { 200: { description: 'The versions', schema: FLEET } },
      handle: async ({ params: { id, name }, signal }) => {
        const { latest, all } = await versionsOf(id, name, signal);
        const byEtag = new Map(all.map((version) => [version.etag, version]));
        const held = fleet.held(id, name);
        const items = held.versions.map(({ etag, keys, last_seen }) => {
          const { agent_version_id = null, version = null } = byEtag.get(etag) ?? {};
          return { etag, agent_version_id, version, is_latest: etag === latest.etag, keys, last_seen };
        });
        const keys_on_latest = items.find(({ is_latest }) => is_latest)?.keys ?? 0;
        return { name, latest: versionSummary(latest), keys: held.keys, keys_on_latest, items };
      },
    }),
  ];
}
