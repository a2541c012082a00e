import { Gates } from './audit/gates.ts';
import { createLoop, sleep } from './audit/loop.ts';
import { bind, type BindingDeps, type BindingOptions, type PolicyBinding } from './govern/binding.ts';
import { checkedOptions } from './options.ts';
import type { ResolvePolicy } from './policy/resolve-policy.ts';

export const gates = /* @__PURE__ */ new Gates({ now: () => Date.now(), sleep, createLoop });

let resolving: Promise<ResolvePolicy> | undefined;

/**
 * Finds an agent's policy: a local one, else the platform's, else it throws a PolicyError. Nothing is allowed by default.
 * Throws a ValueError without an agent name.
 */
export const resolvePolicy: ResolvePolicy = async (options) => {
  // Loaded with the first policy: a program that only records does not need it.
  resolving ??= import('./policy/resolve-policy.ts').then(({ createResolvePolicy }) =>
    createResolvePolicy({ now: () => Date.now() }),
  );
  return (await resolving)(options);
};

export const bindingDeps: BindingDeps = {
  configure: (options) => gates.configure(options),
  current: (gate) => gates.current(gate),
  resolvePolicy,
};

/** Binds an agent with the gates and the policies of this copy of the package. `of` is the function that errors name. */
export const bindAs = async (of: string, options: BindingOptions): Promise<PolicyBinding> =>
  bind(checkedOptions(of, options), bindingDeps);
