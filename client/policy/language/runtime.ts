// Everything except the policy parser, which loads a YAML parser.
export { BUNDLE_ABI, BUNDLE_FORMAT, recordHashText } from './bundle-manifest.ts';
export type { AgentRecord, BundleManifest, RecordParts } from './bundle-manifest.ts';
export { callTextFrom } from './call-text.ts';
export type { CallText } from './call-text.ts';
export { defaultPolicy } from './default-policy.ts';
export type { AgentManifest, ManifestTool } from './default-policy.ts';
export {
  ALLOWED,
  APPROVAL_BY_ROLE,
  decisionText,
  ENGINE_FAILED,
  ERROR_TYPES,
  REASONS,
  roleNotAllowed,
  UNKNOWN_TOOL,
  unreadableCall,
} from './decision.ts';
export type { Decision, DecisionParts, Outcome, PolicyCall, PolicyEngine, Unreadable } from './decision.ts';
export type { Decimal } from './decimal.ts';
export * as limits from './limits.ts';
export type { PolicyFault } from './policy-fault.ts';
export type * from './policy-ir.ts';
export { TYPE_NAMES } from './policy-ir.ts';
export { failureTable } from './literal-search.ts';
export { createTypescriptEngine } from './typescript-engine.ts';
export { compareUtf8, foldAscii, utf8From } from './utf8.ts';
