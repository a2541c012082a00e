export { parsePolicy, type ParsedPolicy } from './parse-policy.ts';
export * from './runtime.ts';
