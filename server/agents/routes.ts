import { type Request, type Response, Router } from 'express';
import { type Actor, actorName } from '../access/access.ts';
import type { RecordActivity } from '../activity/activity.ts';
import { RequestError } from '../errors.ts';
import { authenticate } from '../access/authenticate.ts';
import { etagMatches, onlyEntityTag } from '../http/etag.ts';
import { addressOf } from '../http/rate-limit.ts';
import { readJson, readJsonWithText } from '../http/read-json.ts';
import { createRouter, mount } from '../http/routes.ts';
import { abortOnDisconnect } from '../http/abort-on-disconnect.ts';
import type { BearerKeys } from '../keys/bearer-keys.ts';
import type { Metrics } from '../metrics.ts';
import { agentUnknown, type AgentSaver } from './agent-saver.ts';
import type { AgentStore } from './agent-store.ts';
import { bundleOf, fetchBody, savedBody, versionSummary } from './agent-version.ts';
import { parseEdit, parseRegistration } from './bodies.ts';
import { createCheckRunner, type RunCheck } from './check-runner.ts';
import { checkPolicy, parseCheck, type ReadRecorded } from './check-policy.ts';
import type { Fleet } from './fleet.ts';
import type { PolicyReader } from './policy-reader.ts';

export type AgentRouteDeps = {
  bearerKeys: BearerKeys;
  agentStore: AgentStore;
  agentSaver: AgentSaver;
  policyReader: PolicyReader;
  fleet: Fleet;
  metrics: Metrics;
  /** Rejects unless the caller may read this project. */
  authorizeRead: (req: Request, projectId: string) => Promise<void>;
  /** Rejects unless the caller may change this project; tells who it is. */
  authorizeEdit: (req: Request, projectId: string) => Promise<Actor>;
  recordActivity: RecordActivity;
  readRecorded: ReadRecorded;
  runtime: Uint8Array;
};

/** Registration and policy fetch by agents, save and history for the dashboard (SPECIFICATION 4.6 to 4.8). */
export function agentRoutes(deps: AgentRouteDeps): Router {
  const router = createRouter();
  const runCheck = createCheckRunner();
  mount(router, '/v1/agents', { post: (req, res) => register(req, res, deps) });
  mount(router, '/v1/agents/:name', { get: (req, res) => fetchPolicy(req, res, deps) });
  mount(router, '/v1/projects/:id/agents', { get: (req, res) => listAgents(req, res, deps) });
  mount(router, '/v1/projects/:id/agents/:name', { put: (req, res) => saveAgent(req, res, deps) });
  mount(router, '/v1/projects/:id/agents/:name/versions', {
    get: (req, res) => listVersions(req, res, deps),
  });
  mount(router, '/v1/projects/:id/agents/:name/versions/:version', {
    get: (req, res) => showVersion(req, res, deps),
  });
  mount(router, '/v1/projects/:id/agents/:name/check', {
    post: (req, res) => checkDraft(req, res, { ...deps, runCheck }),
  });
  mount(router, '/v1/projects/:id/agents/:name/fleet', { get: (req, res) => showFleet(req, res, deps) });
  return router;
}

async function register(
  req: Request,
  res: Response,
  { bearerKeys, agentSaver }: AgentRouteDeps,
): Promise<void> {
  const { project_id: projectId, key_id } = await authenticate(req, bearerKeys);
  const registration = await readJson(req, parseRegistration);
  const { version, created } = await agentSaver.register(registration, { projectId, by: `key ${key_id}` });
  res.status(created ? 201 : 200).json(savedBody(version, created));
}

async function fetchPolicy(req: Request, res: Response, deps: AgentRouteDeps): Promise<void> {
  const { bearerKeys, policyReader, fleet, metrics } = deps;
  const { project_id: projectId, key_id: keyId } = await authenticate(req, bearerKeys);
  const agentName = String(req.params['name']);
  const served = await policyReader.find(projectId, agentName);
  if (served === undefined) {
    metrics.policyFetches.inc({ result: 'unknown' });
    throw agentUnknown(agentName);
  }
  res.set({ ETag: served.etag, 'Cache-Control': 'private, no-cache', Vary: 'Authorization' });
  const condition = req.headers['if-none-match'];
  const held = condition === undefined ? undefined : onlyEntityTag(condition);
  if (held !== undefined && held.length <= ETAG_CHARS_MAX)
    fleet.seen({ projectId, agentName }, { keyId, etag: held });
  if (condition !== undefined && etagMatches(condition, served.etag)) {
    metrics.policyFetches.inc({ result: 'not_modified' });
    res.status(304).end();
    return;
  }
  metrics.policyFetches.inc({ result: 'fresh' });
  res.set('Content-Type', 'application/json; charset=utf-8').end(served.body);
}

/** Our own ETags have at most 73 characters; longer conditions name something else and are not counted as held. */
const ETAG_CHARS_MAX = 80;

async function saveAgent(
  req: Request,
  res: Response,
  { authorizeEdit, agentSaver, recordActivity }: AgentRouteDeps,
): Promise<void> {
  const { projectId, name } = paramsOf(req);
  const actor = await authorizeEdit(req, projectId);
  const edit = await readJson(req, parseEdit);
  const { version, created, isNew, absentReason } = await agentSaver.edit(
    name,
    { edit, ifMatch: req.headers['if-match'] },
    { projectId, by: actorName(actor) },
  );
  if (isNew) {
    const detail = { agent_name: name, version: version.version };
    const entry = { event: 'policy_saved', project_id: projectId, detail } as const;
    await recordActivity({ ...entry, actor, address: addressOf(req) });
  }
  const reason = absentReason === undefined ? {} : { bundle_absent_reason: absentReason };
  res.json({ ...savedBody(version, created), bundle: bundleOf(version), ...reason });
}

async function listAgents(
  req: Request,
  res: Response,
  { authorizeRead, agentStore }: AgentRouteDeps,
): Promise<void> {
  const { projectId } = paramsOf(req);
  await authorizeRead(req, projectId);
  const agents = await agentStore.list(projectId);
  res.json({ items: agents.map((agent) => ({ ...versionSummary(agent), tools: agent.tools })) });
}

async function listVersions(
  req: Request,
  res: Response,
  { authorizeRead, agentStore }: AgentRouteDeps,
): Promise<void> {
  const { projectId, name } = paramsOf(req);
  await authorizeRead(req, projectId);
  const versions = await agentStore.versions(projectId, name);
  if (versions.length === 0) throw agentUnknown(name);
  res.json({ items: versions.map(versionSummary) });
}

async function showVersion(
  req: Request,
  res: Response,
  { authorizeRead, agentStore }: AgentRouteDeps,
): Promise<void> {
  const { projectId, name } = paramsOf(req);
  await authorizeRead(req, projectId);
  const number = String(req.params['version']);
  const found = /^[1-9]\d{0,8}$/.test(number)
    ? await agentStore.find(projectId, name, Number(number))
    : undefined;
  if (found === undefined)
    throw new RequestError('not_found', `The agent "${name}" has no version ${number}`);
  res.json({ ...versionSummary(found), tools: found.tools, ...fetchBody(found) });
}

/** A dry run: nothing is saved. It reads stored decisions, so it asks for the right to change and not only to read. */
async function checkDraft(
  req: Request,
  res: Response,
  { authorizeEdit, runtime, readRecorded, runCheck }: AgentRouteDeps & { runCheck: RunCheck },
): Promise<void> {
  const { projectId, name: agentName } = paramsOf(req);
  await authorizeEdit(req, projectId);
  const { body: check, text } = await readJsonWithText(req, parseCheck);
  const context = { projectId, agentName, runtime, readRecorded, runCheck, text };
  await abortOnDisconnect(res, async (signal) => {
    res.json(await checkPolicy(check, { ...context, signal }));
  });
}

async function showFleet(
  req: Request,
  res: Response,
  { authorizeRead, agentStore, fleet }: AgentRouteDeps,
): Promise<void> {
  const { projectId, name } = paramsOf(req);
  await authorizeRead(req, projectId);
  const versions = await agentStore.versions(projectId, name);
  const [latest] = versions;
  if (latest === undefined) throw agentUnknown(name);
  const byEtag = new Map(versions.map((version) => [version.etag, version]));
  const items = fleet.held(projectId, name).map(({ etag, keys, last_seen }) => {
    const version = byEtag.get(etag);
    return {
      etag,
      agent_version_id: version?.agent_version_id ?? null,
      version: version?.version ?? null,
      is_latest: etag === latest.etag,
      keys,
      last_seen,
    };
  });
  const keysOnLatest = items.find(({ is_latest }) => is_latest)?.keys ?? 0;
  res.json({ name, latest: versionSummary(latest), keys_on_latest: keysOnLatest, items });
}

function paramsOf(req: Request): { projectId: string; name: string } {
  return { projectId: String(req.params['id']), name: String(req.params['name']) };
}
