import { addressOf, type Gate } from '../audit/gate.ts';
import {
  BASE_URL_DEFAULT,
  isLocalMode,
  readEnvironment,
  timerMs,
  urlOf,
  warnOfBoth,
  warnOfPlaintext,
} from '../config.ts';
import { HTTP_TIMEOUT_MS } from '../limits.ts';
import { safeLogger, type Logger } from '../logger.ts';
import { PolicyError, ValueError } from '../errors.ts';
import { toolsAbsentFrom } from './engine.ts';
import { resolveFromCode, resolveFromFile, type LocalOptions } from './local-source.ts';
import { resolveFromPlatform } from './platform-source.ts';
import type { PolicySource } from './policy-source.ts';
import { parsePublicKey, type PublicKeyInput } from './public-key.ts';
import { Trusts } from './trust.ts';

export type ResolveOptions = {
  agentName: string;
  key?: string | undefined;
  /** A gate from `configure`: without `key` and `baseUrl`, its key and base URL serve for the policy, too. */
  client?: Gate | undefined;
  baseUrl?: string | undefined;
  publicKey?: PublicKeyInput | undefined;
  /** Path of a policy in YAML, or of an agent record in JSON; wins over `policy` and the platform. */
  localPolicy?: string | undefined;
  /** A policy in YAML, given in code. */
  policy?: string | undefined;
  requireSignature?: boolean | undefined;
  /** A directory that keeps, across processes, the smallest version that may be installed of each agent. */
  stateDir?: string | undefined;
  toolNames?: readonly string[] | undefined;
  timeoutMs?: number | undefined;
  logger?: Logger | undefined;
};

type Settings = ReturnType<typeof settingsFrom>;

export type ResolvePolicy = (options: ResolveOptions) => Promise<PolicySource>;

type ResolveDeps = { now: () => number };

/** Makes `resolvePolicy`, which remembers the signing keys that it trusts. */
export function createResolvePolicy({ now }: ResolveDeps): ResolvePolicy {
  const trusts = new Trusts();
  return async (options) => {
    const settings = settingsFrom(options);
    warnOfBoth({ apiKey: settings.apiKey, localPolicy: settings.localPolicy }, settings.logger);
    const source = await resolve(settings, { now, trusts });
    const absent = toolsAbsentFrom(source.policy, options.toolNames ?? []);
    if (absent.length > 0) {
      settings.logger.warn(`Tools absent from the policy are denied: ${absent.join(', ')}`, {
        tools: absent,
      });
    }
    return source;
  };
}

async function resolve(settings: Settings, { now, trusts }: ResolveDeps & { trusts: Trusts }) {
  const { localPolicy, policy, bearerKey, baseUrl, publicKey } = settings;
  if (localPolicy) return resolveFromFile(fileOf(settings, localPolicy));
  if (policy !== undefined) return resolveFromCode(policy);
  if (settings.isLocalMode) throw missing('GATE_LOCAL_MODE is on, and there is no local policy');
  if (!bearerKey) throw missing('there is neither a key nor a local policy');
  const pinned = publicKey === undefined ? undefined : parsePublicKey(publicKey);
  warnOfPlaintext(baseUrl, settings.logger);
  const trust = await trusts.of(urlOf(baseUrl, ''), pinned);
  return resolveFromPlatform({ ...settings, now, trust, bearerKey });
}

function settingsFrom(options: ResolveOptions) {
  if (!options.agentName) throw new ValueError('resolvePolicy needs the name of the agent');
  const environment = readEnvironment();
  const address = options.client && addressOf(options.client);
  return {
    agentName: options.agentName,
    apiKey: environment.apiKey,
    bearerKey: options.key ?? address?.apiKey ?? environment.policyKey,
    baseUrl: options.baseUrl ?? address?.baseUrl ?? environment.baseUrl ?? BASE_URL_DEFAULT,
    localPolicy: options.localPolicy ?? environment.localPolicy,
    policy: options.policy,
    isLocalMode: isLocalMode(),
    publicKey: options.publicKey ?? environment.publicKey,
    requireSignature: options.requireSignature ?? environment.requireSignature,
    stateDir: options.stateDir ?? environment.stateDir,
    timeoutMs: timerMs(options.timeoutMs ?? HTTP_TIMEOUT_MS),
    logger: safeLogger(options.logger),
  };
}

/** Only what can be sent to a worker thread: a logger cannot. */
function fileOf(settings: Settings, path: string): LocalOptions {
  const { agentName, bearerKey, publicKey, requireSignature, stateDir } = settings;
  return { path, agentName, bearerKey, publicKey, requireSignature, stateDir };
}

function missing(why: string): PolicyError {
  return new PolicyError('policy_missing', `No policy: ${why}. Nothing is allowed by default.`);
}
