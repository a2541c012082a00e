import { Gates } from './audit/gates.ts';
import { createLoop, sleep } from './audit/loop.ts';
import { createResolvePolicy } from './policy/resolve-policy.ts';

export const gates = new Gates({ now: Date.now, sleep, createLoop });

/**
 * Finds an agent's policy: a local one, else the platform's, else it throws a PolicyError. Nothing is allowed by default.
 * Throws a ValueError without an agent name.
 */
export const resolvePolicy = createResolvePolicy({ now: Date.now });

export const bindingDeps = {
  configure: gates.configure.bind(gates),
  current: gates.current.bind(gates),
  resolvePolicy,
};
