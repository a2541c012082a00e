import {
  decisionText,
  limits,
  roleNotAllowed,
  utf8From,
  type Effect,
  type PolicyIr,
} from '../../client/policy/language/index.ts';
import { HEAD } from './blob-layout.ts';
import type { BlobWriter } from './blob-writer.ts';
import { violationJson } from './pack-rules.ts';

const MARK = '<mark>';

/** Writes the texts from which the runtime builds results. They are cut out of results that contain a mark. */
export function packFragments(blob: BlobWriter): void {
  const denial = ruleFragments('deny');
  const approval = ruleFragments('needs_approval');
  const [roleDenial = ''] = decisionText(roleNotAllowed([MARK])).split(JSON.stringify(MARK));
  const hintStart = roleDenial.indexOf('"hint":') + '"hint":'.length;
  const fragments = [
    [HEAD.KEY_TOOL, 'tool'],
    [HEAD.KEY_ROLE, 'role'],
    [HEAD.KEY_ARGUMENTS, 'arguments'],
    [HEAD.ROLE_DENIAL, roleDenial],
    [HEAD.MORE_ROLES, ',"more":'],
    [HEAD.RULE_DENIAL, denial.start],
    [HEAD.RULE_APPROVAL, approval.start],
    [HEAD.VIOLATIONS, denial.violations],
    [HEAD.APPROVAL_VIOLATION, JSON.stringify('approval_by_role')],
    [HEAD.HINT, denial.hint],
  ] as const;
  for (const [offset, text] of fragments) blob.headRef(offset, blob.sizedText(text));
  blob.head(HEAD.HINT_PREFIX_BYTES, roleDenial.length - hintStart);
}

function ruleFragments(outcome: Effect): { start: string; violations: string; hint: string } {
  const quoted = JSON.stringify(MARK);
  const text = decisionText({ outcome, reason: MARK, violations: [MARK], hintText: quoted });
  const [start = '', violations = '', hint = ''] = text.split(quoted);
  return { start, violations, hint };
}

/** An upper bound of the results that the runtime writes. The fragments take a few hundred bytes. */
export function resultBytesMax({ rules }: PolicyIr): number {
  const sizes = rules.map((rule) => utf8From(violationJson(rule)).length + 1).sort((a, b) => b - a);
  const violations = sizes.slice(0, limits.VIOLATIONS_MAX).reduce((sum, size) => sum + size, 0);
  const reason = sizes[0] ?? 0;
  return 512 + reason + violations + limits.HINT_BYTES_MAX;
}
