import { HINT_BYTES_MAX } from './limits.ts';
import { utf8Length } from './utf8.ts';

export type Outcome = 'allow' | 'deny' | 'needs_approval';

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
  /** Never throws: what cannot be read or decided is a denial. */
  decide: (call: PolicyCall) => Decision;
  /** The exact result text for a call's JSON text. */
  decideText: (call: string | Uint8Array) => string;
};

/** Why a call cannot be read at all. */
export type Unreadable = 'too_large' | 'bad_json' | 'bad_call';

export const REASONS = {
  unreadable: 'The call cannot be read.',
  unknownTool: 'Tool is not in the policy.',
  roleNotAllowed: 'Role may not use this tool.',
  approvalByRole: 'This tool needs approval for this role.',
  engineFailed: 'The policy engine failed.',
} as const;

/** The parts of a result, the hint as the JSON text it is made of. */
export type DecisionParts = { outcome: Outcome; reason: string; violations: string[]; hintText: string };

/** The exact text of a result: this key order and no spaces, in both engines. */
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

/** A module that traps, or answers with anything but a decision, denies. */
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

/** Ingest bounds a hint: the list is cut to what fits, and then `more` counts the rest. */
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
