import { bytesFromBase64 } from './base64.ts';
import {
  createTypescriptEngine,
  parsePolicy,
  type AgentRecord,
  type PolicyEngine,
} from './language/index.ts';
import { PolicyError } from '../errors.ts';
import { createWasmEngine } from './wasm-engine.ts';

/** The engine of a policy text, or an error that lists every fault with line and column. */
export function engineFromYaml(text: string): PolicyEngine {
  const parsed = parsePolicy(text);
  if (parsed.ok) return createTypescriptEngine(parsed.ir);
  const faults = parsed.errors.map(({ line, column, message }) => `${line}:${column} ${message}`);
  throw new PolicyError('policy_invalid', `The policy is not valid:\n${faults.join('\n')}`);
}

/** The engine of a bundle that is verified already. */
export function engineFromBundle(record: AgentRecord): PolicyEngine {
  const module = bytesFromBase64(record.bundle_wasm_b64 ?? '');
  if (module === undefined) throw new PolicyError('bundle_invalid', 'The bundle module is not base64');
  return createWasmEngine(module);
}

const VIOLATION_UNKNOWN = 'unknown_tool';

/** The tools the policy does not name, and so denies to every role. */
export function toolsAbsentFrom(policy: PolicyEngine, toolNames: readonly string[]): string[] {
  return toolNames.filter((tool) => policy.decide({ tool }).violations.includes(VIOLATION_UNKNOWN));
}
