import { randomUUID } from 'node:crypto';
import type { PolicyFault } from '../../client/policy/language/index.ts';
import { RequestError } from '../errors.ts';
import { etagMatches } from '../http/etag.ts';
import { withoutSecrets } from '../http/without-secrets.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { makeBundle } from '../policy/make-bundle.ts';
import { recordHash } from '../policy/record-hash.ts';
import type { SigningKey } from '../policy/sign-bundle.ts';
import type { AgentDirectory } from './agent-directory.ts';
import type { AgentStore } from './agent-store.ts';
import type { AgentTool, AgentVersion } from './agent-version.ts';
import type { BundleSigner } from './bundle-signer.ts';
import type { PolicyMaker } from './policy-maker.ts';

export type Registration = {
  name: string;
  tools: AgentTool[];
  agent_yaml?: string | undefined;
  system_md?: string | undefined;
};
type Edit = {
  policy_yaml?: string | undefined;
  agent_yaml?: string | undefined;
  system_md?: string | undefined;
  /** The note of the save. It is ignored without another change, because a note alone creates no version. */
  note?: string | undefined;
};
type Saved = { version: AgentVersion; created: boolean; isNew: boolean; absentReason?: string | undefined };

type Saver = { projectId: string; by: string; note?: string | undefined };
type Texts = Pick<AgentVersion, 'tools' | 'agent_yaml' | 'policy_yaml' | 'system_md'>;
/** Returns the texts of the next version, given the latest one. Throws to refuse the save. */
type Change = (latest: AgentVersion | undefined) => Texts | Promise<Texts>;
type AgentSaverOptions = {
  store: AgentStore;
  mutex: KeyedMutex;
  directory: AgentDirectory;
  signingKey: SigningKey;
  policyMaker: PolicyMaker;
  signer: BundleSigner;
  /** Called with a version that was signed again. */
  onSigned: (version: AgentVersion) => void;
  now: () => number;
};

/** When several processes save one agent at the same time, one of them gets its version number in each round. */
const SAVE_TRIES_MAX = 10;

/** Compiles, signs and saves versions of agents, one at a time for each agent. */
export class AgentSaver {
  readonly #options: AgentSaverOptions;
  readonly #registering = new Map<string, Promise<Saved>>();

  constructor(options: AgentSaverOptions) {
    this.#options = options;
  }

  /** Equal registrations share one while it runs: a whole fleet may start at once. */
  async register(registration: Registration, saver: Saver): Promise<Saved> {
    const key = JSON.stringify([saver.projectId, registration]);
    const running = this.#registering.get(key);
    if (running !== undefined) return { version: (await running).version, created: false, isNew: false };
    const registering = this.#register(registration, saver).finally(() => this.#registering.delete(key));
    this.#registering.set(key, registering);
    return registering;
  }

  /** Registration owns tools and agent_yaml; it sets policy_yaml and system_md only for a new agent. */
  #register({ name, tools, agent_yaml, system_md }: Registration, saver: Saver): Promise<Saved> {
    return this.#save(name, saver, async (latest) => {
      const isSameTools = latest !== undefined && JSON.stringify(tools) === JSON.stringify(latest.tools);
      const draft = isSameTools
        ? latest
        : await this.#options.policyMaker.draft(saver.projectId, { name, tools });
      return {
        tools,
        agent_yaml: agent_yaml ?? draft.agent_yaml,
        policy_yaml: latest?.policy_yaml ?? draft.policy_yaml,
        system_md: latest?.system_md ?? system_md ?? '',
      };
    });
  }

  /**
   * The dashboard's save. Rejects with agent_unknown, precondition_failed, body_invalid for a definition that is not YAML, or
   * policy_invalid. The last two list every error.
   */
  edit(
    name: string,
    { edit, ifMatch }: { edit: Edit; ifMatch: string | undefined },
    saver: Saver,
  ): Promise<Saved> {
    return this.#save(name, { ...saver, note: edit.note }, async (latest) => {
      if (latest === undefined) throw agentUnknown(name);
      if (ifMatch !== undefined && !etagMatches(ifMatch, latest.etag, 'strong'))
        throw preconditionFailed(latest.etag);
      if (edit.agent_yaml !== undefined && edit.agent_yaml !== latest.agent_yaml)
        await this.#options.policyMaker.requireYaml(saver.projectId, edit.agent_yaml);
      return {
        tools: latest.tools,
        agent_yaml: edit.agent_yaml ?? latest.agent_yaml,
        policy_yaml: edit.policy_yaml ?? latest.policy_yaml,
        system_md: edit.system_md ?? latest.system_md,
      };
    });
  }

  /** The latest version, signed again if it must be; undefined when the agent does not exist. */
  sign(projectId: string, name: string): Promise<AgentVersion | undefined> {
    return this.#options.mutex.run(mutexKey(projectId, name), async () => {
      const latest = await this.#options.store.find(projectId, name);
      return latest && this.#signAgain(latest);
    });
  }

  async #signAgain(latest: AgentVersion): Promise<AgentVersion> {
    const { store, signer, onSigned } = this.#options;
    const signed = await signer.signAgain(latest);
    if (signed === undefined) return latest;
    await store.insert(signed);
    onSigned(signed);
    return signed;
  }

  #save(name: string, saver: Saver, change: Change): Promise<Saved> {
    const { store, mutex, directory } = this.#options;
    const { projectId } = saver;
    return mutex.run(mutexKey(projectId, name), async () => {
      for (let tries = 1; ; tries += 1) {
        const latest = await store.find(projectId, name);
        const texts = await change(latest);
        if (latest !== undefined && hasTexts(latest, texts))
          return { version: await this.#signAgain(latest), created: false, isNew: false };
        const saved = await this.#build(texts, { name, latest, saver });
        const { version, agent_version_id } = saved.version;
        await store.insert(saved.version);
        // Another process may have saved the same number, and the first one wins. In that case, apply the change on top of it.
        const winner = await store.find(projectId, name, version);
        if (winner === undefined || winner.agent_version_id === agent_version_id) {
          directory.saved(saved.version);
          return saved;
        }
        if (tries === SAVE_TRIES_MAX)
          throw new RequestError('overloaded', 'Too many requests change the same agent. Try again.');
      }
    });
  }

  async #build(
    { tools, agent_yaml, policy_yaml, system_md }: Texts,
    { name, latest, saver }: { name: string; latest: AgentVersion | undefined; saver: Saver },
  ): Promise<Saved> {
    const { signingKey: key, signer, policyMaker, now } = this.#options;
    const version = (latest?.version ?? 0) + 1;
    const texts = { agent_yaml, policy_yaml, system_md };
    const record = { project_id: saver.projectId, agent_name: name, version, ...texts };
    const identity = { agent_version_id: randomUUID(), created_at: new Date(now()).toISOString() };
    const record_hash = recordHash(record);
    // Only the first version has a generated text.
    const policy = { policy_yaml, recordHash: record_hash, isOwnText: latest === undefined };
    const made = await policyMaker.compile(saver.projectId, policy);
    if (!made.ok) throw policyInvalid(made.errors);
    const parts = { record, record_hash, compiled: made.compiled, ...identity };
    const expires_at = signer.expiresAt();
    const { absentReason, ...bundle } = await makeBundle({ ...parts, expires_at }, key);
    const saved: AgentVersion = {
      ...record,
      ...identity,
      agent_id: latest?.agent_id ?? randomUUID(),
      created_by: saver.by,
      tools,
      ...bundle,
      signed_at: identity.created_at,
      note: saver.note ?? '',
    };
    return { version: saved, created: latest === undefined, isNew: true, absentReason };
  }
}

function mutexKey(projectId: string, name: string): string {
  return `${projectId}/${name}`;
}

function hasTexts(version: AgentVersion, texts: Texts): boolean {
  const fields = ['tools', 'agent_yaml', 'policy_yaml', 'system_md'] as const;
  return fields.every((field) => JSON.stringify(texts[field]) === JSON.stringify(version[field]));
}

export function agentUnknown(name: string): RequestError {
  return new RequestError(
    'agent_unknown',
    `The project has no agent "${withoutSecrets(name)}"; register it with POST /v1/agents`,
  );
}

function preconditionFailed(etag: string): RequestError {
  return new RequestError(
    'precondition_failed',
    `If-Match must name the agent's latest version, whose ETag is ${etag}: has it been saved since?`,
  );
}

function policyInvalid(errors: PolicyFault[]): RequestError {
  const [first] = errors;
  const where = first === undefined ? '' : `: line ${first.line}, column ${first.column}: ${first.message}`;
  return new RequestError('policy_invalid', `The policy has ${errors.length} error(s)${where}`, {
    errors: errors.map(({ line, column, message }) => ({ path: '/policy_yaml', message, line, column })),
  });
}
