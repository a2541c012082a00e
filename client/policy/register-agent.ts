import { problemFrom } from '../audit/post-event.ts';
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
import { safeLogger, type Logger } from '../logger.ts';
import { checkedOptions } from '../options.ts';
import { parseJsonObject } from './encoding.ts';
import { httpRequest } from './http-request.ts';

/** A tool of an agent. The default policy lets those with `readOnlyHint` run; the others need an approval. */
export type AgentTool =
  | string
  | {
      name: string;
      description?: string | undefined;
      annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean } | undefined;
    };

export type RegisterOptions = {
  agentName: string;
  /** All tools that the agent has. */
  tools: readonly AgentTool[];
  /** A description of the agent; made from its name and its tools by default. */
  agentYaml?: string | undefined;
  /** The system prompt, for a new agent. */
  systemMd?: string | undefined;
  /** A bearer key that may register agents; default GATE_KEY. */
  key?: string | undefined;
  /** The same as `key`. */
  policyKey?: string | undefined;
  /** Default GATE_BASE_URL, else http://localhost:8000. */
  baseUrl?: string | undefined;
  /** Default 5,000. */
  timeoutMs?: number | undefined;
  logger?: Logger | undefined;
};

export type RegisteredAgent = {
  agentId: string;
  agentVersionId: string;
  version: number;
  /** False if the agent was registered before. */
  isNew: boolean;
};

/** See the package's registerAgent. */
export async function registerAgent({
  tools,
  agentYaml,
  systemMd,
  ...given
}: RegisterOptions): Promise<RegisteredAgent> {
  const { agentName, timeoutMs = HTTP_TIMEOUT_MS, ...options } = checkedOptions('registerAgent', given);
  const environment = readEnvironment();
  const key = options.key ?? environment.policyKey;
  if (!key) throw new ValueError('registerAgent needs a bearer key: set policyKey, or GATE_KEY');
  if (isLocalMode()) throw new ValueError('GATE_LOCAL_MODE is on: no agent is registered at the platform');
  const baseUrl = options.baseUrl ?? environment.baseUrl ?? BASE_URL_DEFAULT;
  warnOfPlaintext(baseUrl, safeLogger(options.logger));
  const { status, text } = await httpRequest({
    url: urlOf(baseUrl, '/v1/agents'),
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: agentName, tools, agent_yaml: agentYaml, system_md: systemMd }),
    timeoutMs: timerMs(timeoutMs),
  });
  if (status !== 200 && status !== 201) throw refusal(status, text);
  const what = 'The answer to the registration';
  const { agent_id, agent_version_id, version } = parseJsonObject(text, { code: 'record_invalid', what });
  if (typeof agent_id !== 'string' || typeof agent_version_id !== 'string' || typeof version !== 'number')
    throw new PolicyError('record_invalid', `${what} names no version of an agent`);
  return { agentId: agent_id, agentVersionId: agent_version_id, version, isNew: status === 201 };
}

function refusal(status: number, text: string): PolicyError {
  const code = status === 401 ? 'unauthenticated' : 'platform_error';
  return new PolicyError(code, `The registration was answered with ${status} ${problemFrom(text)}`.trim(), {
    status,
  });
}
