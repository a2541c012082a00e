import type { Rule } from '../../client/policy/language/index.ts';
import { EFFECT_DENY } from './blob-layout.ts';
import { packCondition, type PackedConditions } from './pack-condition.ts';

/** Writes the conditions of all rules, then the table of rules. Returns the address of the table. */
export function packRules(packed: PackedConditions, rules: Rule[]): number {
  const { blob } = packed;
  const clauses = rules.map(({ when, require }) => ({
    when: when === null ? 0 : packCondition(packed, when),
    require: require === null ? 0 : packCondition(packed, require),
  }));
  const table = blob.address;
  rules.forEach((rule, index) => {
    const clause = clauses[index];
    blob.word(rule.effect === 'deny' ? EFFECT_DENY : 0);
    blob.word(clause?.when ?? 0);
    blob.word(clause?.require ?? 0);
    blob.ref(blob.sizedText(violationJson(rule)));
    // The violation ends with the reason, so the reason is not stored again. Ids need no JSON escapes.
    blob.word(`"${rule.id}: `.length);
    blob.ref(blob.sizedText(rule.hintText));
  });
  return table;
}

export function violationJson({ id, reason }: Rule): string {
  return JSON.stringify(`${id}: ${reason}`);
}
