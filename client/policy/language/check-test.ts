import { checkOperator, isOperator, OPERATORS } from './check-operator.ts';
import { argumentPathFrom, indexFrom } from './argument-path.ts';
import { LITERAL_BYTES_MAX, PATH_STEPS_MAX } from './limits.ts';
import type { ConditionPlace } from './check-condition.ts';
import { hasControlCharacter } from './policy-check.ts';
import type { PolicyCheck } from './policy-check.ts';
import type { Condition, PathStep } from './policy-ir.ts';
import { utf8Length } from './utf8.ts';
import type { YamlMap, YamlNode } from './yaml-node.ts';

const KEYS = ['arg', 'ignore_case', ...OPERATORS];

/** One path and its operators, which must all hold. */
export function checkTest(check: PolicyCheck, map: YamlMap, place: ConditionPlace): Condition | undefined {
  const fields = check.fields(map, 'a test', KEYS);
  if (fields === undefined) return undefined;
  const arg = fields.get('arg');
  if (arg === undefined && place.base === 'arguments') check.faults.add(map.at, 'a test needs "arg"');
  const path = arg === undefined ? [] : checkPath(check, arg.value);
  const ignoreCase = fields.get('ignore_case');
  const fold = ignoreCase !== undefined && check.boolean(ignoreCase.value, 'ignore_case') === true;
  const operators = map.entries.filter(({ key }) => isOperator(key));
  if (operators.length === 0) check.faults.add(map.at, 'a test needs an operator');
  const checks = operators.map((entry) => checkOperator(check, entry, { fold, depth: place.depth }));
  return { kind: 'test', base: place.base, path, checks: checks.filter((one) => one !== undefined) };
}

function checkPath(check: PolicyCheck, node: YamlNode): PathStep[] {
  const steps = node.kind === 'list' ? checkSteps(check, node) : checkPathText(check, node);
  if (steps.length > PATH_STEPS_MAX) check.refuse(node, `a path has more than ${PATH_STEPS_MAX} steps`);
  for (const step of steps) {
    if (typeof step === 'number') continue;
    if (hasControlCharacter(step)) check.refuse(node, 'a name in a path must not have control characters');
    if (utf8Length(step) > LITERAL_BYTES_MAX) {
      check.refuse(node, `a name in a path has more than ${LITERAL_BYTES_MAX} bytes`);
    }
  }
  return steps;
}

function checkPathText(check: PolicyCheck, node: YamlNode): PathStep[] {
  const text = check.text(node, 'arg');
  if (text === undefined) return [];
  const steps = argumentPathFrom(text);
  if (steps !== undefined) return steps;
  check.refuse(node, 'arg is a path such as a.b[0].c, or a list of its steps');
  return [];
}

function checkSteps(check: PolicyCheck, node: YamlNode): PathStep[] {
  const items = check.items(node, 'arg') ?? [];
  return items.flatMap((item): PathStep[] => {
    if (item.kind === 'text') return [item.value];
    if (item.kind === 'number' && /^[0-9]+$/.test(item.source)) return [indexFrom(item.source)];
    check.refuse(item, 'a step is a name or an index from 0');
    return [];
  });
}
