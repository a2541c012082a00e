import type { ConfigureOptions } from './audit/emitter.ts';
import type { Gate } from './audit/gate.ts';
import { bindingDeps, defaultEmitter } from './defaults.ts';
import { createGovern } from './govern/govern.ts';

/** The gate of the key at hand: the same key gives the same gate, no key or local mode an inert one. */
export const configure = (options?: ConfigureOptions): Gate => defaultEmitter.configure(options);

/** Resolves when no event of any gate is in flight. */
export const flush = (): Promise<void> => defaultEmitter.flush();

/** Drains and closes every gate; after 15 s, or the time given, it gives up on what is left. */
export const shutdown = (options?: { timeoutMs?: number | undefined }): Promise<void> =>
  defaultEmitter.shutdown(options);

/** Binds an agent to its policy: every tool call is decided first, and every decision recorded. */
export const govern = createGovern(bindingDeps);

export { ApprovalRequiredError, PolicyDeniedError } from './govern/decision-errors.ts';
export { resolvePolicy } from './defaults.ts';
export { PolicyError } from './policy/policy-error.ts';
export { ValueError } from './value-error.ts';
export { redact } from './audit/plain-copy.ts';
export { truncateArguments } from './audit/truncate.ts';
export type { ConfigureOptions } from './audit/emitter.ts';
export type { DecisionEvent, DecisionInput, Outcome } from './audit/decision-event.ts';
export type { Gate } from './audit/gate.ts';
export type { UsageInput } from './audit/usage-event.ts';
export type { Logger } from './logger.ts';
export type { Agent, GovernedAgent, GovernOptions } from './govern/govern.ts';
export type { ApprovalRequest, Caller, OnApproval } from './govern/run.ts';
export type { PolicySource, PolicyOrigin } from './policy/policy-source.ts';
export type { ResolveOptions } from './policy/resolve-policy.ts';
export type { Decision, PolicyEngine } from './policy/language/index.ts';
