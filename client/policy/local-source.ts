import { loadBlocking } from './blocking.ts';
import { loadParser } from './load-parser.ts';
import { engineFromYaml } from './engine.ts';
import type { PolicyEngine } from './language/runtime.ts';
import { loadLocal, type Loaded, type LoadRequest } from './load-local.ts';
import type { PolicySource } from './policy-source.ts';
import { VersionFloor } from './version-floor.ts';
import { createWasmEngine } from './wasm-engine.ts';

export type LocalOptions = Omit<LoadRequest, 'heldText' | 'heldVersion'> & {
  /** Where the smallest version that may be installed is kept. */
  stateDir: string | undefined;
};

type HeldFile = Readonly<{ text: string; version: number | undefined; policy: PolicyEngine }>;

/** A policy file. Throws if it is invalid, at resolve and at every refresh. */
export async function resolveFromFile({ stateDir, ...options }: LocalOptions): Promise<PolicySource> {
  const admit = (loaded: Loaded): HeldFile => {
    const next = heldFrom(loaded);
    if (stateDir === undefined || loaded.kind !== 'bundle') return next;
    const { projectId, version } = loaded;
    new VersionFloor(stateDir, { projectId, agentName: options.agentName }).raise(version);
    return next;
  };
  // Also for a record, because YAML may replace it before a blocking refresh.
  await loadParser();
  let held = admit(await loadLocal(options));
  const accept = (loaded: Loaded): void => {
    if (loaded.kind !== 'unchanged') held = admit(loaded);
  };
  const request = (): LoadRequest => ({ ...options, heldText: held.text, heldVersion: held.version });
  let refreshing: Promise<void> | undefined;
  const refresh = async (): Promise<void> => {
    const heldBefore = held;
    const loaded = await loadLocal(request());
    // If they differ, a blocking refresh has read the file later than this one.
    if (held === heldBefore) accept(loaded);
  };
  return {
    origin: 'local',
    etag: null,
    agentVersionId: null,
    get policy() {
      return held.policy;
    },
    // Overlapping refreshes share one read, so that an earlier read cannot end last.
    refresh: () => (refreshing ??= refresh().finally(() => (refreshing = undefined))),
    refreshSync: () => accept(loadBlocking(request())),
  };
}

/** A policy given in code. */
export async function resolveFromCode(policyYaml: string): Promise<PolicySource> {
  await loadParser();
  return {
    origin: 'built-in',
    etag: null,
    agentVersionId: null,
    policy: engineFromYaml(policyYaml),
    refresh: () => Promise.resolve(),
    refreshSync: () => undefined,
  };
}

function heldFrom(loaded: Loaded): HeldFile {
  if (loaded.kind === 'unchanged') throw new Error('The first load of a file has no text to compare with');
  const { text } = loaded;
  if (loaded.kind === 'yaml') {
    return Object.freeze({ text, version: undefined, policy: engineFromYaml(loaded.policyYaml) });
  }
  const { version, module } = loaded;
  return Object.freeze({ text, version, policy: createWasmEngine(module) });
}
