import { HINT_BYTES_MAX } from './limits.ts';
import { utf8Length } from './utf8.ts';

/** The outcomes, and the error type that an event of each has. */
export const ERROR_TYPES = { allow: '', deny: 'policy_denied', needs_approval: 'approval_required' } as const;

export type Outcome = keyof typeof ERROR_TYPES;

export type Decision = {
  outcome: Outcome;
  reason: string;
  violations: string[];
  hint: Record<string, unknown> | null;
};

export type PolicyCall = {
  tool: string;
  role?: string | undefined;
  arguments?: Record<string, unknown> | null | undefined;
};

export type PolicyEngine = {
  /** Never throws: a call that cannot be read or decided is denied. */
  decide: (call: PolicyCall) => Decision;
  /** The JSON text of the decision for the JSON text of a call. */
  decideText: (call: string | Uint8Array) => string;
};

/** Why a call cannot be read. */
export type Unreadable = 'too_large' | 'bad_json' | 'bad_call';

export const REASONS = {
  unreadable: 'The call cannot be read.',
  unknownTool: 'Tool is not in the policy.',
  roleNotAllowed: 'Role may not use this tool.',
  approvalByRole: 'This tool needs approval for this role.',
  engineFailed: 'The policy engine failed.',
} as const;

/** A decision with its hint as JSON text. */
export type DecisionParts = { outcome: Outcome; reason: string; violations: string[]; hintText: string };

/** The JSON text of a decision; both engines write exactly these bytes. */
export function decisionText({ outcome, reason, violations, hintText }: DecisionParts): string {
  return `{"outcome":"${outcome}","reason":${JSON.stringify(reason)},"violations":${JSON.stringify(violations)},"hint":${hintText}}`;
}

export const ALLOWED: DecisionParts = { outcome: 'allow', reason: '', violations: [], hintText: 'null' };

export const APPROVAL_BY_ROLE: DecisionParts = {
  outcome: 'needs_approval',
  reason: REASONS.approvalByRole,
  violations: ['approval_by_role'],
  hintText: codeHintText('approval_by_role'),
};

export const UNKNOWN_TOOL = denial('unknown_tool', REASONS.unknownTool);

/** The decision when a module traps or returns anything but a decision. */
export const ENGINE_FAILED = denial('engine_failed', REASONS.engineFailed);

export function unreadableCall(code: Unreadable): DecisionParts {
  return denial(code, REASONS.unreadable);
}

function denial(code: string, reason: string): DecisionParts {
  return { outcome: 'deny', reason, violations: [code], hintText: codeHintText(code) };
}

function codeHintText(code: string): string {
  return JSON.stringify({ code });
}

/** Ingest bounds a hint: the list is cut to fit, and `more` counts the rest. */
export function roleNotAllowed(allowedRoles: readonly string[]): DecisionParts {
  const code = 'role_not_allowed';
  let hintText = JSON.stringify({ code, allowed_roles: allowedRoles });
  for (let kept = allowedRoles.length - 1; utf8Length(hintText) > HINT_BYTES_MAX; kept -= 1) {
    hintText = JSON.stringify({
      code,
      allowed_roles: allowedRoles.slice(0, kept),
      more: allowedRoles.length - kept,
    });
  }
  return { outcome: 'deny', reason: REASONS.roleNotAllowed, violations: [code], hintText };
}
