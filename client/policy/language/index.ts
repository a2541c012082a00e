export * from './runtime.ts';
export { parsePolicy } from './parse-policy.ts';
export type { ParsedPolicy } from './parse-policy.ts';
