import { bytesFromBase64 } from './encoding.ts';
import { createTypescriptEngine, type AgentRecord, type PolicyEngine } from './language/runtime.ts';
import { PolicyError } from '../errors.ts';
import { parserOfPolicies } from './load-parser.ts';
import { createWasmEngine } from './wasm-engine.ts';

/** Builds the engine for a policy text, once `loadParser` is done; the error lists every fault with line and column. */
export function engineFromYaml(text: string): PolicyEngine {
  const parsed = parserOfPolicies()(text);
  if (parsed.ok) return createTypescriptEngine(parsed.ir);
  const faults = parsed.errors.map(({ line, column, message }) => `${line}:${column} ${message}`);
  throw new PolicyError('policy_invalid', `The policy is not valid:\n${faults.join('\n')}`);
}

/** Builds the engine for a verified bundle. */
export function engineFromBundle(record: AgentRecord): PolicyEngine {
  const module = bytesFromBase64(record.bundle_wasm_b64 ?? '');
  if (module === undefined) throw new PolicyError('bundle_invalid', 'The bundle module is not base64');
  return createWasmEngine(module);
}

const VIOLATION_UNKNOWN = 'unknown_tool';

/** The tools that the policy does not list, and so denies to every role. */
export function toolsAbsentFrom(policy: PolicyEngine, toolNames: readonly string[]): string[] {
  return toolNames.filter((tool) => policy.decide({ tool }).violations.includes(VIOLATION_UNKNOWN));
}
