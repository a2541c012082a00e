import { randomUUID } from 'node:crypto';
import { stringify } from 'yaml';
import { defaultPolicy, parsePolicy, type PolicyFault } from '../../client/policy/language/index.ts';
import { RequestError } from '../errors.ts';
import { etagMatches } from '../http/etag.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import { makeBundle } from '../policy/make-bundle.ts';
import type { SigningKey } from '../policy/sign-bundle.ts';
import type { AgentDirectory } from './agent-directory.ts';
import type { AgentStore } from './agent-store.ts';
import type { AgentTool, AgentVersion } from './agent-version.ts';

export type Registration = {
  name: string;
  tools: AgentTool[];
  agent_yaml?: string | undefined;
  system_md?: string | undefined;
};
export type Edit = {
  policy_yaml?: string | undefined;
  agent_yaml?: string | undefined;
  system_md?: string | undefined;
};
export type Saved = { version: AgentVersion; created: boolean; isNew: boolean; absentReason?: string };

type Who = { projectId: string; by: string };
type Texts = Pick<AgentVersion, 'tools' | 'agent_yaml' | 'policy_yaml' | 'system_md'>;
type AgentSaverOptions = {
  store: AgentStore;
  directory: AgentDirectory;
  signingKey: SigningKey;
  runtime: Uint8Array;
  now: () => number;
};

/** Saves of one agent at once in several processes: each round one of them gets its number. */
const SAVE_TRIES_MAX = 10;

class VersionTaken extends Error {
  readonly etag: string;
  constructor(etag: string) {
    super('The version number was taken by another process');
    this.etag = etag;
  }
}

/** Saves versions of agents: compiled and signed at save, one after the other for each agent. */
export class AgentSaver {
  readonly #options: AgentSaverOptions;
  readonly #mutex = new KeyedMutex();

  constructor(options: AgentSaverOptions) {
    this.#options = options;
  }

  /** Registration owns the manifest (tools, agent_yaml); policy_yaml and system_md are set once, at the first. */
  register({ name, tools, agent_yaml, system_md }: Registration, who: Who): Promise<Saved> {
    return this.#alone(who, name, async (latest) => {
      const manifestYaml = () => stringify({ name, tools });
      if (latest === undefined) {
        const texts = { tools, agent_yaml: agent_yaml ?? manifestYaml(), system_md: system_md ?? '' };
        return this.#save({ ...texts, policy_yaml: defaultPolicy({ name, tools }) }, { latest, name, who });
      }
      const isSameTools = JSON.stringify(tools) === JSON.stringify(latest.tools);
      if (isSameTools && (agent_yaml ?? latest.agent_yaml) === latest.agent_yaml) return unchanged(latest);
      return this.#save(
        { ...latest, tools, agent_yaml: agent_yaml ?? manifestYaml() },
        { latest, name, who },
      );
    });
  }

  /** The dashboard's save. Throws agent_unknown, precondition_failed, or policy_invalid with every error. */
  edit(
    name: string,
    { edit, ifMatch }: { edit: Edit; ifMatch: string | undefined },
    who: Who,
  ): Promise<Saved> {
    return this.#alone(who, name, async (latest) => {
      if (latest === undefined) throw agentUnknown(name);
      if (ifMatch !== undefined && !etagMatches(ifMatch, latest.etag, 'strong'))
        throw preconditionFailed(latest.etag);
      const texts: Texts = {
        tools: latest.tools,
        agent_yaml: edit.agent_yaml ?? latest.agent_yaml,
        policy_yaml: edit.policy_yaml ?? latest.policy_yaml,
        system_md: edit.system_md ?? latest.system_md,
      };
      const isSame = (['agent_yaml', 'policy_yaml', 'system_md'] as const).every(
        (field) => texts[field] === latest[field],
      );
      if (isSame) return unchanged(latest);
      return this.#save(texts, { latest, name, who });
    });
  }

  #alone(who: Who, name: string, work: (latest: AgentVersion | undefined) => Promise<Saved>): Promise<Saved> {
    return this.#mutex.run(`${who.projectId}/${name}`, async () => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await work(await this.#options.store.find(who.projectId, name));
        } catch (error) {
          // Another process saved meanwhile: the same again, on top of that. If-Match then says no by itself.
          if (!(error instanceof VersionTaken)) throw error;
          if (tries === SAVE_TRIES_MAX) throw preconditionFailed(error.etag);
        }
      }
    });
  }

  async #save(
    texts: Texts,
    { latest, name, who }: { latest: AgentVersion | undefined; name: string; who: Who },
  ): Promise<Saved> {
    const { store, directory, signingKey: key, runtime, now } = this.#options;
    const parsed = parsePolicy(texts.policy_yaml);
    if (!parsed.ok) throw policyInvalid(parsed.errors);
    const version = (latest?.version ?? 0) + 1;
    const identity = { project_id: who.projectId, agent_name: name, version };
    const agent_version_id = randomUUID();
    const created_at = new Date(now()).toISOString();
    const { agent_yaml, policy_yaml, system_md } = texts;
    const record = { ...identity, agent_yaml, policy_yaml, system_md };
    const bundle = await makeBundle(
      { record, ir: parsed.ir, agent_version_id, created_at },
      { key, runtime },
    );
    const saved: AgentVersion = {
      ...record,
      created_at,
      agent_version_id,
      agent_id: latest?.agent_id ?? randomUUID(),
      created_by: who.by,
      tools: texts.tools,
      bundle_wasm_b64: bundle.kind === 'signed' ? Buffer.from(bundle.module).toString('base64') : '',
      bundle_manifest: bundle.kind === 'signed' ? bundle.manifest : '',
      bundle_signature_b64: bundle.kind === 'signed' ? bundle.signature : '',
      etag: bundle.etag,
    };
    await store.insert(saved);
    // Another process may have saved the same number: the first of them counts, here as everywhere.
    const winner = await store.find(who.projectId, name, version);
    if (winner !== undefined && winner.agent_version_id !== agent_version_id)
      throw new VersionTaken(winner.etag);
    directory.saved(saved);
    const reason = bundle.kind === 'absent' ? { absentReason: bundle.absentReason } : {};
    return { version: saved, created: latest === undefined, isNew: true, ...reason };
  }
}

function unchanged(latest: AgentVersion): Saved {
  return { version: latest, created: false, isNew: false };
}

export function agentUnknown(name: string): RequestError {
  return new RequestError(
    'agent_unknown',
    `The project has no agent "${name}"; register it with POST /v1/agents`,
  );
}

function preconditionFailed(etag: string): RequestError {
  return new RequestError(
    'precondition_failed',
    `The agent was saved by someone else meanwhile; its ETag is ${etag}`,
  );
}

function policyInvalid(errors: PolicyFault[]): RequestError {
  const [first] = errors;
  const where = first === undefined ? '' : `: line ${first.line}, column ${first.column}: ${first.message}`;
  return new RequestError('policy_invalid', `The policy has ${errors.length} error(s)${where}`, {
    errors: errors.map(({ line, column, message }) => ({ path: '/policy_yaml', message, line, column })),
  });
}
