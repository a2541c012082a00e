import {
  BASE_URL_DEFAULT,
  isLocalMode,
  readEnvironment,
  timerMs,
  urlOf,
  warnOfPlaintext,
} from '../config.ts';
import { PolicyError, ValueError } from '../errors.ts';
import { HTTP_TIMEOUT_MS } from '../limits.ts';
import { safeLogger } from '../logger.ts';
import { checkedOptions, requireOptions } from '../options.ts';
import { parseBearerKey } from './bearer-key.ts';
import { parseJsonObject } from './encoding.ts';
import { engineFromYaml } from './engine.ts';
import { httpRequest, refusalOf, type Answer } from './http-request.ts';
import { loadParser } from './load-parser.ts';
import type { ResolveOptions } from './resolve-policy.ts';

/** A tool of an agent. By default, the policy allows tools with `readOnlyHint`; the others need an approval. */
export type AgentTool =
  | string
  | {
      name: string;
      description?: string | undefined;
      annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean } | undefined;
    };

export type RegisterOptions = Pick<ResolveOptions, 'policyKey' | 'baseUrl' | 'timeoutMs' | 'logger'> & {
  /** The agent, as its policy names it. An unknown name registers a new agent. */
  agentName: string;
  /** All tools of the agent. */
  tools: readonly AgentTool[];
  /** A description of the agent; built from its name and its tools by default. */
  agentYaml?: string | undefined;
  /** The system prompt, for a new agent. */
  systemMd?: string | undefined;
  /** A policy in YAML, which replaces that of the agent. Needs a key with the scope edit_policy. */
  policy?: string | undefined;
  /** A bearer key that may register agents; default GATE_KEY. */
  key?: string | undefined;
};

export type RegisteredAgent = {
  agentId: string;
  agentVersionId: string;
  version: number;
  /** False if the agent was registered before. */
  isNew: boolean;
};

/** See the package's registerAgent. */
export async function registerAgent(all: RegisterOptions): Promise<RegisteredAgent> {
  const { tools, agentYaml, systemMd, ...given } = requireOptions('registerAgent', all);
  const {
    agentName,
    policy,
    timeoutMs = HTTP_TIMEOUT_MS,
    ...options
  } = checkedOptions('registerAgent', given);
  const environment = readEnvironment();
  const key = options.key ?? environment.policyKey;
  if (!key) throw new ValueError('registerAgent needs a bearer key: set policyKey, or GATE_KEY');
  if (isLocalMode()) throw new ValueError('GATE_LOCAL_MODE is on: no agent is registered at the platform');
  const baseUrl = options.baseUrl ?? environment.baseUrl ?? BASE_URL_DEFAULT;
  warnOfPlaintext(baseUrl, safeLogger(options.logger));
  if (typeof policy === 'string') {
    // Throws before an agent is registered under an invalid policy.
    await loadParser();
    engineFromYaml(policy);
  }
  const send = (path: string, body: object, method?: 'PUT'): Promise<Answer> =>
    httpRequest({
      url: urlOf(baseUrl, path),
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      method,
      body: JSON.stringify(body),
      timeoutMs: timerMs(timeoutMs),
    });
  const registration = { name: agentName, tools, agent_yaml: agentYaml, system_md: systemMd };
  const registered = agentFrom(await send('/v1/agents', registration), 'The registration', key);
  if (typeof policy !== 'string') return registered;
  const { projectId } = parseBearerKey(key);
  const path = `/v1/projects/${encodeURIComponent(projectId)}/agents/${encodeURIComponent(agentName)}`;
  const saved = await send(path, { policy_yaml: policy }, 'PUT');
  return { ...agentFrom(saved, 'The save of the policy', key), isNew: registered.isNew };
}

function agentFrom(answer: Answer, what: string, key: string): RegisteredAgent {
  const { status, text } = answer;
  if (status !== 200 && status !== 201) throw refusalOf(what, answer, key);
  const answerTo = `The answer to ${what.toLowerCase()}`;
  const record = parseJsonObject(text, { code: 'record_invalid', what: answerTo });
  const { agent_id, agent_version_id, version } = record;
  if (typeof agent_id !== 'string' || typeof agent_version_id !== 'string' || typeof version !== 'number')
    throw new PolicyError('record_invalid', `${answerTo} names no version of an agent`);
  return { agentId: agent_id, agentVersionId: agent_version_id, version, isNew: status === 201 };
}
