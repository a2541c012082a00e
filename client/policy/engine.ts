import { createTypescriptEngine, type PolicyEngine } from './language/runtime.ts';
import { PolicyError } from '../errors.ts';
import { parserOfPolicies } from './load-parser.ts';

/** Builds the engine for a policy text, once `loadParser` is done; the error lists every fault with line and column. */
export function engineFromYaml(text: string): PolicyEngine {
  const parsed = parserOfPolicies()(text);
  if (parsed.ok) return createTypescriptEngine(parsed.ir);
  const faults = parsed.errors.map(({ line, column, message }) => `${line}:${column} ${message}`);
  throw new PolicyError('policy_invalid', `The policy is not valid:\n${faults.join('\n')}`);
}

/** The tools that the policy does not list and therefore denies to every role. */
export function toolsAbsentFrom(policy: PolicyEngine, toolNames: readonly string[]): string[] {
  return toolNames.filter((tool) => policy.decide({ tool }).violations.includes('unknown_tool'));
}
