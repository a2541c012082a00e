import type { Decision } from './decision.ts';

export type PolicyCall = {
  tool: string;
  role?: string | undefined;
  arguments?: Record<string, unknown> | null | undefined;
};

export type PolicyEngine = {
  /** Never throws: what cannot be read or decided is a denial. */
  decide: (call: PolicyCall) => Decision;
  /** The exact result text for a call's JSON text. */
  decideText: (call: string | Uint8Array) => string;
};
