import { addressOf, type Gate } from '../audit/gate.ts';
import type { ConfigureOptions } from '../audit/gates.ts';
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
import { safeLogger } from '../logger.ts';
import { PolicyError, ValueError, type PolicyErrorCode } from '../errors.ts';
import { checkedOptions } from '../options.ts';
import { toolsAbsentFrom } from './engine.ts';
import { resolveFromCode, resolveFromFile, type LocalOptions } from './local-source.ts';
import { resolveFromPlatform } from './platform-source.ts';
import type { PolicySource } from './policy-source.ts';
import { parsePublicKey, type PublicKeyInput } from './public-key.ts';
import { Trusts } from './trust.ts';

export type ResolveOptions = Pick<ConfigureOptions, 'baseUrl' | 'timeoutMs' | 'logger'> & {
  /** The agent, as it is registered. */
  agentName: string;
  /** The bearer key for the policy; default GATE_KEY. The key for audit does not replace it. */
  key?: string | undefined;
  /** The same as `key`. */
  policyKey?: string | undefined;
  /** A gate from `configure`: its key and base URL replace `key` and `baseUrl` if these are missing. */
  client?: Gate | undefined;
  /** The key that must have signed the policy; default GATE_PUBLIC_KEY, else the service's key set at its first use. */
  publicKey?: PublicKeyInput | undefined;
  /**
   * Path of a policy in YAML, or of an agent record in JSON; wins over `policy` and the platform. Default GATE_LOCAL_POLICY,
   * which wins over the platform.
   */
  localPolicy?: string | undefined;
  /** The text of a policy in YAML, given in code; wins over GATE_LOCAL_POLICY and the platform. */
  policy?: string | undefined;
  /** Refuses agent records without a signed bundle; default GATE_BUNDLE_REQUIRE_SIGNATURE. */
  requireSignature?: boolean | undefined;
  /** A directory that keeps, across processes, the smallest version of each agent that may be installed; default GATE_STATE_DIR. */
  stateDir?: string | undefined;
  /** The agent's tools: a warning lists those that are missing in the policy. */
  toolNames?: readonly string[] | undefined;
};

type Settings = ReturnType<typeof settingsFrom>;

export type ResolvePolicy = (options: ResolveOptions) => Promise<PolicySource>;

type ResolveDeps = { now: () => number };

/** Makes `resolvePolicy`, which remembers the signing keys that it trusts. */
export function createResolvePolicy({ now }: ResolveDeps): ResolvePolicy {
  const trusts = new Trusts();
  return async (given) => {
    const options = checkedOptions('resolvePolicy', given);
    const settings = settingsFrom(options);
    warnOfBoth({ apiKey: settings.apiKey, localPolicy: settings.localPolicy }, settings.logger);
    const source = await resolve(settings, { now, trusts }).catch((error: unknown) => {
      throw named(error, settings);
    });
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
  if (policy !== undefined) return resolveFromCode(textOf(policy));
  if (settings.isLocalMode) throw missing('GATE_LOCAL_MODE is on, and there is no local policy');
  if (!bearerKey) throw missing('there is neither a key nor a local policy');
  const pinned = publicKey === undefined ? undefined : parsePublicKey(publicKey);
  warnOfPlaintext(baseUrl, settings.logger);
  const trust = await trusts.of(urlOf(baseUrl, ''), pinned);
  return resolveFromPlatform({ ...settings, now, trust, bearerKey });
}

function settingsFrom(options: ResolveOptions) {
  if (!options.agentName) throw new ValueError('resolvePolicy needs the name of the agent');
  if (!options.agentName.isWellFormed())
    throw new ValueError('agentName has a lone surrogate; it must be well-formed Unicode');
  const environment = readEnvironment();
  const address = options.client && addressOf(options.client);
  return {
    agentName: options.agentName,
    apiKey: environment.apiKey,
    bearerKey: options.key ?? address?.apiKey ?? environment.policyKey,
    names: namesOf(options, address?.apiKey !== undefined),
    baseUrl: options.baseUrl ?? address?.baseUrl ?? environment.baseUrl ?? BASE_URL_DEFAULT,
    localPolicy: options.localPolicy ?? (isPolicyFirst(options) ? undefined : environment.localPolicy),
    policy: options.policy,
    isLocalMode: isLocalMode(),
    publicKey: options.publicKey ?? environment.publicKey,
    requireSignature: options.requireSignature ?? environment.requireSignature,
    stateDir: options.stateDir ?? environment.stateDir,
    timeoutMs: timerMs(options.timeoutMs ?? HTTP_TIMEOUT_MS),
    logger: safeLogger(options.logger),
  };
}

/** An option overrides the environment. In local mode the developer's file overrides the program. */
function isPolicyFirst({ policy }: ResolveOptions): boolean {
  return policy !== undefined && !isLocalMode();
}

/** Where the keys and the file came from, for errors. */
function namesOf({ key, policyKey, publicKey, localPolicy }: ResolveOptions, hasClientKey: boolean) {
  const keyOption = policyKey === undefined ? 'the option key' : 'the option policyKey';
  const otherKey = hasClientKey ? 'the key of the option client' : 'GATE_KEY';
  return {
    key: key === undefined ? otherKey : keyOption,
    publicKey: publicKey === undefined ? 'GATE_PUBLIC_KEY' : 'the option publicKey',
    localPolicy: localPolicy === undefined ? 'GATE_LOCAL_POLICY' : 'the option localPolicy',
  };
}

const NAMED: Partial<Record<PolicyErrorCode, keyof ReturnType<typeof namesOf>>> = {
  key_malformed: 'key',
  key_signature_invalid: 'key',
  unauthenticated: 'key',
  project_mismatch: 'key',
  public_key_invalid: 'publicKey',
  local_policy_unreadable: 'localPolicy',
};

/** The error with the option or the variable that caused it. */
function named(error: unknown, { names }: Settings): unknown {
  if (!(error instanceof PolicyError)) return error;
  const { code, message, status, cause } = error;
  const name = NAMED[code];
  return name === undefined ? error : new PolicyError(code, `${message} (${names[name]})`, { status, cause });
}

/** Only what can be sent to a worker thread: a logger cannot. */
function fileOf(settings: Settings, path: string): LocalOptions {
  const { agentName, bearerKey, publicKey, requireSignature, stateDir } = settings;
  return { path, agentName, bearerKey, publicKey, requireSignature, stateDir };
}

/** Throws for the path of a file: `localPolicy` is the option for that. */
function textOf(policy: string): string {
  if (!/^(?:[A-Za-z]:)?[^\n:]*\.(?:ya?ml|json)\s*$/.test(policy)) return policy;
  const message = `policy is the text of a policy, and ${JSON.stringify(policy)} looks like a path: use localPolicy`;
  throw new PolicyError('policy_invalid', message);
}

function missing(why: string): PolicyError {
  return new PolicyError('policy_missing', `No policy: ${why}. Nothing is allowed by default.`);
}
