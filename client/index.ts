import type { ConfigureOptions } from './audit/gates.ts';
import type { Gate } from './audit/gate.ts';
import { bindAs, bindingDeps, gates } from './defaults.ts';
import type { AdapterOptions, PolicyBinding } from './govern/binding.ts';
import { createGovern } from './govern/govern.ts';
import { checkedOptions } from './options.ts';
import type { RegisteredAgent, RegisterOptions } from './policy/register-agent.ts';

/**
 * The gate for this API key, created once. Without a key and in local mode the gate is inert. Throws a ValueError for batch
 * options out of range.
 */
export const configure = (options: ConfigureOptions = {}): Gate =>
  gates.configure(checkedOptions('configure', options));

/** Sends the events that wait for a batch, and resolves when no event is in flight. */
export const flush = (): Promise<void> => gates.flush();

/** Accepts no more events, waits for those in flight (15 s by default), then closes every connection. May be called again. */
export const shutdown = (options?: { timeoutMs?: number | undefined }): Promise<void> =>
  gates.shutdown(options ?? undefined);

/** Binds an agent to its policy: every tool call is decided before it runs, and every decision is recorded. */
export const govern = /* @__PURE__ */ createGovern(bindingDeps);

/**
 * Binds an agent to its policy and its audit, for your own framework: call `startRun` at the top of each run, then `run.call` or
 * `run.decide` for every tool call. Throws if there is no policy.
 */
export const bindPolicy = (options: AdapterOptions): Promise<PolicyBinding> => bindAs('bindPolicy', options);

/**
 * Registers an agent and its tools. A new agent gets the default policy; a registered agent keeps its own. May be called at each start:
 * only changed tools create a new version. Throws a PolicyError if the platform does not answer, or refuses.
 */
export const registerAgent = async (options: RegisterOptions): Promise<RegisteredAgent> =>
  (await import('./policy/register-agent.ts')).registerAgent(options);

export { ApprovalRequiredError, PolicyDeniedError, type ApprovalFailure } from './govern/decision-errors.ts';
export { resolvePolicy } from './defaults.ts';
export { PolicyError, ValueError, type PolicyErrorCode } from './errors.ts';
export { redact } from './audit/plain-copy.ts';
export { truncateArguments } from './audit/truncate.ts';
export type { BatchOptions } from './audit/batch-options.ts';
export type { ConfigureOptions } from './audit/gates.ts';
export type { DecisionEvent, DecisionInput } from './audit/decision-event.ts';
export type { Gate } from './audit/gate.ts';
export type { UsageInput } from './audit/usage-event.ts';
export type { Logger } from './logger.ts';
export type {
  Agent,
  BareAgent,
  GovernedAgent,
  GovernedTools,
  GovernOptions,
  LooseAgent,
  Tools,
} from './govern/govern.ts';
export type { ApprovalContext, ApprovalOptions, ApprovalRequest, OnApproval } from './govern/approval.ts';
export type { BindingOptions, PolicyBinding } from './govern/binding.ts';
export type {
  CallOptions,
  Caller,
  DecidedCall,
  Execute,
  PolicyRun,
  RunOptions,
  SyncPolicyRun,
} from './govern/run.ts';
export type { PolicySource, PolicyOrigin } from './policy/policy-source.ts';
export type { AgentTool, RegisteredAgent, RegisterOptions } from './policy/register-agent.ts';
export type { ResolveOptions } from './policy/resolve-policy.ts';
export type { Decision, Outcome, PolicyCall, PolicyEngine } from './policy/language/runtime.ts';
