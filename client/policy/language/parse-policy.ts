import { validatePolicy } from './validate-policy.ts';
import { POLICY_TEXT_BYTES_MAX } from './limits.ts';
import { PolicyValidator } from './policy-validator.ts';
import { FaultList, type PolicyFault } from './policy-fault.ts';
import type { PolicyIr } from './policy-ir.ts';
import { readYaml } from './read-yaml.ts';
import { utf8Length } from './utf8.ts';

export type ParsedPolicy = { ok: true; ir: PolicyIr } | { ok: false; errors: PolicyFault[] };

/** Parses and validates a policy text; returns every error with line and column. */
export function parsePolicy(text: string): ParsedPolicy {
  const faults = new FaultList();
  const ir = validatedIr(text, faults);
  return ir !== undefined && faults.size === 0
    ? { ok: true, ir }
    : { ok: false, errors: faults.sorted(text) };
}

function validatedIr(text: string, faults: FaultList): PolicyIr | undefined {
  // The length is tested first, so that a long text is refused without encoding it.
  if (text.length > POLICY_TEXT_BYTES_MAX || utf8Length(text) > POLICY_TEXT_BYTES_MAX) {
    faults.add(0, `the policy has more than ${POLICY_TEXT_BYTES_MAX} bytes`);
    return undefined;
  }
  if (!text.isWellFormed()) {
    faults.add(text.search(/\p{Surrogate}/u), 'lone surrogates are not allowed');
    return undefined;
  }
  const root = readYaml(text, faults);
  return root && validatePolicy(new PolicyValidator(faults), root);
}
