import type { ConfigureOptions } from '../audit/gates.ts';
import type { Gate, InnerGate } from '../audit/gate.ts';
import { readEnvironment, warnOfBoth } from '../config.ts';
import { safeLogger } from '../logger.ts';
import type { ResolveOptions, ResolvePolicy } from '../policy/resolve-policy.ts';
import type { PolicySource } from '../policy/policy-source.ts';
import { Run, type Caller, type OnApproval } from './run.ts';

export type BindingOptions = Omit<ResolveOptions, 'agentName'> &
  ConfigureOptions &
  Caller & { agentName?: string | undefined; onApproval?: OnApproval | undefined };

export type BindingDeps = {
  configure: (options: ConfigureOptions) => InnerGate;
  /** The gate that is open for the key of this one. */
  current: (gate: Gate) => InnerGate;
  resolvePolicy: ResolvePolicy;
};

/** An agent's policy and its audit. */
export type Binding = {
  readonly agentName: string;
  readonly source: PolicySource;
  readonly gate: InnerGate;
  /** The caller with the defaults of the options. */
  callerFrom(caller: Caller): Caller;
  /** Refreshes the policy, then pins it for one run. */
  startRun(caller?: Caller): Promise<Run>;
  /** The same, blocking; this run emits no events. */
  startRunSync(caller?: Caller): Run;
};

/** Resolves an agent's policy and opens its audit; throws if there is no policy. */
export async function bind(agentName: string, options: BindingOptions, deps: BindingDeps): Promise<Binding> {
  const environment = readEnvironment();
  const apiKey = options.apiKey ?? environment.apiKey;
  const localPolicy = options.localPolicy ?? environment.localPolicy;
  warnOfBoth({ apiKey, localPolicy }, safeLogger(options.logger));
  const currentGate = openGate(options, deps);
  const source = await deps.resolvePolicy({ ...options, agentName });
  const callerFrom = (caller: Caller): Caller => ({ ...callerOf(options), ...callerOf(caller) });
  const pin = (caller: Caller, isSync: boolean): Run =>
    new Run({
      agentName,
      policy: source.policy,
      currentGate,
      caller: callerFrom(caller),
      onApproval: options.onApproval,
      isSync,
    });
  return {
    agentName,
    source,
    get gate() {
      return currentGate();
    },
    callerFrom,
    startRun: async (caller = {}) => {
      await source.refresh();
      return pin(caller, false);
    },
    startRunSync: (caller = {}) => {
      currentGate().warnOfLoop();
      source.refreshSync();
      return pin(caller, true);
    },
  };
}

/** The gate for audit, looked up at each use: `configure` may start anew after `shutdown`. */
export function openGate(options: BindingOptions, { configure, current }: BindingDeps): () => InnerGate {
  const { client, apiKey } = options;
  const gate = client !== undefined && apiKey === undefined ? current(client) : configure(options);
  return () => current(gate);
}

/** Leaves undefined parts out, so that they do not hide defaults. */
function callerOf({ role, userId, sessionId }: Caller): Caller {
  const given = Object.entries({ role, userId, sessionId }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
