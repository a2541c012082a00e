import { OPERATORS, validateOperator } from './validate-operator.ts';
import { argumentPathFrom, indexFrom } from './argument-path.ts';
import { LITERAL_BYTES_MAX, PATH_STEPS_MAX } from './limits.ts';
import type { ConditionPlace } from './validate-condition.ts';
import { hasControlCharacter, type PolicyValidator } from './policy-validator.ts';
import type { Condition, PathStep } from './policy-ir.ts';
import { utf8Length } from './utf8.ts';
import type { YamlMap, YamlNode } from './yaml-node.ts';

const KEYS = ['arg', 'ignore_case', ...OPERATORS];

/** Validates one path and its operators. */
export function validateTest(
  validator: PolicyValidator,
  map: YamlMap,
  place: ConditionPlace,
): Condition | undefined {
  const fields = validator.fields(map, 'a test', KEYS);
  if (fields === undefined) return undefined;
  const arg = fields.get('arg');
  if (arg === undefined && place.base === 'arguments') validator.faults.add(map.at, 'a test needs "arg"');
  const path = arg === undefined ? [] : validatePath(validator, arg);
  const ignoreCase = fields.get('ignore_case');
  const fold = ignoreCase !== undefined && validator.boolean(ignoreCase, 'ignore_case') === true;
  const entries = map.entries.filter(({ key }) => OPERATORS.includes(key));
  if (entries.length === 0) validator.faults.add(map.at, 'a test needs an operator');
  const operators = entries.map((entry) => validateOperator(validator, entry, { fold, depth: place.depth }));
  return { kind: 'test', base: place.base, path, operators: operators.filter((one) => one !== undefined) };
}

function validatePath(validator: PolicyValidator, node: YamlNode): PathStep[] {
  const steps = node.kind === 'list' ? validateSteps(validator, node) : validatePathText(validator, node);
  if (steps.length > PATH_STEPS_MAX) validator.refuse(node, `a path has more than ${PATH_STEPS_MAX} steps`);
  for (const step of steps) {
    if (typeof step === 'number') continue;
    if (hasControlCharacter(step))
      validator.refuse(node, 'a name in a path must not have control characters');
    if (utf8Length(step) > LITERAL_BYTES_MAX) {
      validator.refuse(node, `a name in a path has more than ${LITERAL_BYTES_MAX} bytes`);
    }
  }
  return steps;
}

function validatePathText(validator: PolicyValidator, node: YamlNode): PathStep[] {
  const text = validator.text(node, 'arg');
  if (text === undefined) return [];
  const steps = argumentPathFrom(text);
  if (steps !== undefined) return steps;
  validator.refuse(node, 'arg is a path such as a.b[0].c, or a list of its steps');
  return [];
}

function validateSteps(validator: PolicyValidator, node: YamlNode): PathStep[] {
  const items = validator.items(node, 'arg') ?? [];
  return items.flatMap((item): PathStep[] => {
    if (item.kind === 'text') return [item.value];
    if (item.kind === 'number' && /^[0-9]+$/.test(item.source)) return [indexFrom(item.source)];
    validator.refuse(item, 'a step is a name or an index from 0');
    return [];
  });
}
