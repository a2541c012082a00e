import type { ConfigureOptions } from './audit/gates.ts';
import type { Gate } from './audit/gate.ts';
import { bindingDeps, gates } from './defaults.ts';
import { createGovern } from './govern/govern.ts';

/**
 * The gate for this API key, created once. Without a key and in local mode the gate is inert. Throws a ValueError for batch
 * options out of range.
 */
export const configure = (options?: ConfigureOptions): Gate => gates.configure(options);

/** Sends what waits for a batch, and resolves when no event is in flight. */
export const flush = (): Promise<void> => gates.flush();

/** Takes no more events, waits for those in flight (15 s by default), then closes every connection. May be repeated. */
export const shutdown = (options?: { timeoutMs?: number | undefined }): Promise<void> =>
  gates.shutdown(options);

/** Binds an agent to its policy: every tool call is decided before it runs, and every decision is recorded. */
export const govern = createGovern(bindingDeps);

export { ApprovalRequiredError, PolicyDeniedError } from './govern/decision-errors.ts';
export { resolvePolicy } from './defaults.ts';
export { PolicyError, ValueError } from './errors.ts';
export { redact } from './audit/plain-copy.ts';
export { truncateArguments } from './audit/truncate.ts';
export type { BatchOptions } from './audit/batch-options.ts';
export type { ConfigureOptions } from './audit/gates.ts';
export type { DecisionEvent, DecisionInput } from './audit/decision-event.ts';
export type { Gate } from './audit/gate.ts';
export type { UsageInput } from './audit/usage-event.ts';
export type { Logger } from './logger.ts';
export type { Agent, BareAgent, GovernedAgent, GovernOptions } from './govern/govern.ts';
export type { ApprovalRequest, Caller, OnApproval } from './govern/run.ts';
export type { PolicySource, PolicyOrigin } from './policy/policy-source.ts';
export type { ResolveOptions } from './policy/resolve-policy.ts';
export type { Decision, Outcome, PolicyEngine } from './policy/language/index.ts';
