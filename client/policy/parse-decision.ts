import type { Decision } from './language/index.ts';

const OUTCOMES: readonly unknown[] = ['allow', 'deny', 'needs_approval'];

/** The decision in a result text; throws where the text is anything else. */
export function parseDecision(text: string): Decision {
  const value: unknown = JSON.parse(text);
  if (!isDecision(value)) throw new Error('The result is not a decision');
  return value;
}

function isDecision(value: unknown): value is Decision {
  if (typeof value !== 'object' || value === null) return false;
  const { outcome, reason, violations, hint, ...others } = value as Record<string, unknown>;
  return (
    OUTCOMES.includes(outcome) &&
    typeof reason === 'string' &&
    Array.isArray(violations) &&
    violations.every((violation) => typeof violation === 'string') &&
    typeof hint === 'object' &&
    !Array.isArray(hint) &&
    Object.keys(others).length === 0
  );
}
