// Everything except the policy parser, which loads a YAML parser.
export * from './bundle-manifest.ts';
export { callTextFrom, type CallText } from './call-text.ts';
export type { Decimal } from './decimal.ts';
export * from './decision.ts';
export * from './default-policy.ts';
export * as limits from './limits.ts';
export { failureTable } from './literal-search.ts';
export type { PolicyFault } from './policy-fault.ts';
export * from './policy-ir.ts';
export { createTypescriptEngine } from './typescript-engine.ts';
export { compareUtf8, foldAscii, utf8From } from './utf8.ts';
