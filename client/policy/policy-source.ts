import type { PolicyEngine } from './language/runtime.ts';

export type PolicyOrigin = 'local' | 'built-in' | 'bundle' | 'yaml';

/** An agent's policy and where it comes from. `policy` is the same object until a refresh replaces it. */
export type PolicySource = {
  readonly origin: PolicyOrigin;
  /** The service's ETag, with its quotes; null if the policy did not come from the service. */
  readonly etag: string | null;
  readonly agentVersionId: string | null;
  readonly policy: PolicyEngine;
  refresh(): Promise<void>;
  /** The same, blocking the thread. */
  refreshSync(): void;
};
