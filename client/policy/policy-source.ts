import type { PolicyEngine } from './language/index.ts';

export type PolicyOrigin = 'local' | 'built-in' | 'bundle' | 'yaml';

/** Where an agent's policy comes from; `policy` is the same object until a refresh swaps it. */
export type PolicySource = {
  readonly origin: PolicyOrigin;
  /** The service's ETag with its quotes; null for what did not come from there. */
  readonly etag: string | null;
  readonly agentVersionId: string | null;
  readonly policy: PolicyEngine;
  refresh(): Promise<void>;
  /** The same, blocking the thread, for synchronous entry points. */
  refreshSync(): void;
};

/** What is only true together; replaced in one assignment, and only by what is verified. */
export type Held = Readonly<{
  origin: PolicyOrigin;
  etag: string | null;
  agentVersionId: string | null;
  policy: PolicyEngine;
}>;
