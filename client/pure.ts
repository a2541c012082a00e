// Runs without Node: redaction, truncation, the policy language, and the verification of bundles and of the log.
export { redact } from './audit/plain-copy.ts';
export { truncateArguments } from './audit/truncate.ts';
export { createTypescriptEngine, parsePolicy } from './policy/language/index.ts';
export { PolicyError } from './errors.ts';
export { parsePublicKey } from './policy/public-key.ts';
export { verifyBundle } from './policy/verify-bundle.ts';
export { createWasmEngine } from './policy/wasm-engine.ts';
export type { Decision, PolicyEngine } from './policy/language/index.ts';
export * as proof from './proof/index.ts';
