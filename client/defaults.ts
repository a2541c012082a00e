import { Emitter } from './audit/emitter.ts';
import { createLoop, sleep } from './audit/loop.ts';
import { createResolvePolicy } from './policy/resolve-policy.ts';

/** The one emitter of this copy of the package: what `configure` opens, `shutdown` closes. */
export const defaultEmitter = new Emitter({ now: Date.now, sleep, createLoop });

/** Finds an agent's policy: the local override, else the platform's, else an error. Never allows everything. */
export const resolvePolicy = createResolvePolicy({ now: Date.now });

/** What binding an agent takes. */
export const bindingDeps = {
  configure: defaultEmitter.configure.bind(defaultEmitter),
  resolvePolicy,
};
