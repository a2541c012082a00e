import type { ConfigureOptions } from '../audit/gates.ts';
import type { Gate, InnerGate } from '../audit/gate.ts';
import { readEnvironment, warnOfBoth } from '../config.ts';
import { ValueError } from '../errors.ts';
import { safeLogger } from '../logger.ts';
import { requireOptions } from '../options.ts';
import type { ResolveOptions, ResolvePolicy } from '../policy/resolve-policy.ts';
import type { PolicySource } from '../policy/policy-source.ts';
import { Run, type PolicyRun, type RunOptions, type SyncPolicyRun } from './run.ts';

/** The options of a binding: those of `configure` and of `resolvePolicy`, and defaults for every run. */
export type BindingOptions = Omit<ResolveOptions, 'agentName'> &
  ConfigureOptions &
  RunOptions & {
    /** The agent, as it is registered; `govern` takes it from the agent by default. */
    agentName?: string | undefined;
  };

/** The options of `bindPolicy` and of every adapter, which have no agent to take the name from. */
export type AdapterOptions = BindingOptions & {
  /** The agent, as it is registered. */
  agentName: string;
};

export type BindingDeps = {
  configure: (options: ConfigureOptions) => InnerGate;
  /** The gate that is open for the key of this one. */
  current: (gate: Gate) => InnerGate;
  resolvePolicy: ResolvePolicy;
};

/** An agent's policy and its audit: what `govern` and every adapter call. */
export type PolicyBinding = {
  readonly agentName: string;
  readonly source: PolicySource;
  /** Records the decisions; looked up at each use. */
  readonly gate: Gate;
  /** The options of a run of this caller, with the defaults of the binding. */
  optionsOf(options?: RunOptions): RunOptions;
  /** Refreshes the policy, then pins it for one run. Call it before the model is asked. */
  startRun(options?: RunOptions): Promise<PolicyRun>;
  /** The same, blocking the thread; this run records nothing. */
  startRunSync(options?: RunOptions): SyncPolicyRun;
};

/** What every adapter returns in addition to its own parts. */
export type Bound = Pick<PolicyBinding, 'source' | 'gate'>;

/** A binding, with the parts that `govern` and every adapter return. */
export function withBound<Own extends object>(own: Own, binding: PolicyBinding): Own & Bound {
  return {
    ...own,
    source: binding.source,
    get gate() {
      return binding.gate;
    },
  };
}

/** Resolves an agent's policy and opens its audit; throws if there is no policy. Checks the options first. */
export async function bind(options: BindingOptions, deps: BindingDeps): Promise<PolicyBinding> {
  const { agentName } = options;
  if (!agentName) throw new ValueError('An agent that is bound to a policy needs a name: set agentName');
  const environment = readEnvironment();
  const apiKey = options.apiKey ?? environment.apiKey;
  const localPolicy = options.localPolicy ?? environment.localPolicy;
  warnOfBoth({ apiKey, localPolicy }, safeLogger(options.logger));
  const currentGate = openGate(options, deps);
  const source = await deps.resolvePolicy({ ...options, agentName });
  const optionsOf = (own?: RunOptions | null): RunOptions => ({
    ...runOptionsOf(options),
    ...runOptionsOf(requireOptions('A run', own ?? {})),
  });
  const pin = (own: RunOptions | undefined, isSync: boolean): Run =>
    new Run({
      agentName,
      toolNames: options.toolNames ?? [],
      policy: source.policy,
      currentGate,
      options: optionsOf(own),
      isSync,
    });
  return {
    agentName,
    source,
    get gate() {
      return currentGate();
    },
    optionsOf,
    startRun: async (own) => {
      await source.refresh();
      return pin(own, false);
    },
    startRunSync: (own) => {
      currentGate().warnOfLoop();
      source.refreshSync();
      return pin(own, true);
    },
  };
}

/** The gate for audit, looked up at each use: `configure` may start again after `shutdown`. */
export function openGate(options: BindingOptions, { configure, current }: BindingDeps): () => InnerGate {
  const { client, apiKey } = options;
  const gate = client !== undefined && apiKey === undefined ? current(client) : configure(options);
  return () => current(gate);
}

/** Leaves out undefined parts, so that they do not hide defaults. */
function runOptionsOf(options: RunOptions): RunOptions {
  const { role, userId, sessionId, signal, onApproval, approvalTimeoutMs, passThrough } = options;
  const all = { role, userId, sessionId, signal, onApproval, approvalTimeoutMs, passThrough };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
