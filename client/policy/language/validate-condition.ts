import { validateTest } from './validate-test.ts';
import { CONDITION_DEPTH_MAX, CONDITIONS_MAX } from './limits.ts';
import type { PolicyValidator } from './policy-validator.ts';
import type { Condition, PathBase } from './policy-ir.ts';
import type { YamlEntry, YamlMap, YamlNode } from './yaml-node.ts';

/** The depth of a condition, and where its paths start. */
export type ConditionPlace = { depth: number; base: PathBase };

/** Validates all, any, not or a test; each counts as one condition. */
export function validateCondition(
  validator: PolicyValidator,
  node: YamlNode,
  place: ConditionPlace,
): Condition | undefined {
  validator.conditionCount += 1;
  if (validator.conditionCount === CONDITIONS_MAX + 1) {
    validator.refuse(node, `the policy has more than ${CONDITIONS_MAX} conditions`);
  }
  if (place.depth > CONDITION_DEPTH_MAX) {
    return validator.refuse(node, `conditions nest deeper than ${CONDITION_DEPTH_MAX}`);
  }
  const map = validator.map(node, 'a condition');
  if (map === undefined) return undefined;
  const combiner = map.entries.find(isCombiner);
  return combiner === undefined
    ? validateTest(validator, map, place)
    : validateCombiner(validator, map, { combiner, place });
}

function isCombiner({ key }: YamlEntry): boolean {
  return key === 'all' || key === 'any' || key === 'not';
}

function validateCombiner(
  validator: PolicyValidator,
  map: YamlMap,
  { combiner, place }: { combiner: YamlEntry; place: ConditionPlace },
): Condition | undefined {
  for (const { key, at } of map.entries) {
    if (key !== combiner.key) {
      validator.faults.add(at, `${JSON.stringify(key)} cannot stand beside "${combiner.key}"`);
    }
  }
  const inner = { ...place, depth: place.depth + 1 };
  if (combiner.key === 'not') {
    const condition = validateCondition(validator, combiner.value, inner);
    return condition && { kind: 'not', condition };
  }
  const items = validator.items(combiner.value, combiner.key);
  const conditions = items?.map((item) => validateCondition(validator, item, inner));
  return (
    conditions && {
      kind: combiner.key as 'all' | 'any',
      conditions: conditions.filter((one) => one !== undefined),
    }
  );
}
