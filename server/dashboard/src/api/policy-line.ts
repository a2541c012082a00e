import { FaultList } from '../../../../client/policy/language/policy-fault.ts';
import { parsePolicy } from '../../../../client/policy/language/parse-policy.ts';
import { createTypescriptEngine } from '../../../../client/policy/language/typescript-engine.ts';
import { readYaml } from '../../../../client/policy/language/read-yaml.ts';
import type { YamlEntry, YamlMap, YamlNode } from '../../../../client/policy/language/yaml-node.ts';
import { callText, isWhole, type RecordedCall } from './recorded-call.ts';
import type { Decision, DecisionRecord } from './types.ts';

/** A line of a policy, counted from 1. */
export type PolicyLine = { line: number; text: string };
type Decided = Pick<DecisionRecord, 'role' | 'outcome' | 'violations' | 'reason'>;

// A separate module, which is loaded only when a record is shown.

/** Whether a policy gives the recorded decision for a call; undefined if that cannot be determined. */
export function decidesSame(
  policyYaml: string,
  record: RecordedCall & Pick<DecisionRecord, 'outcome' | 'reason'>,
): boolean | undefined {
  const policy = parsePolicy(policyYaml);
  if (!policy.ok || !isWhole(record)) return undefined;
  const { outcome, reason } = JSON.parse(
    createTypescriptEngine(policy.ir).decideText(callText(record)),
  ) as Decision;
  return outcome === record.outcome && reason === record.reason;
}

/** The line of a policy that leads to one of its decisions. */
export function policyLineOf(policyYaml: string, decided: Decided): PolicyLine | undefined {
  const root = readYaml(policyYaml, new FaultList());
  const at = root?.kind === 'map' ? placeOf(root, decided) : undefined;
  if (at === undefined) return undefined;
  const line = policyYaml.slice(0, at).split('\n').length;
  return { line, text: policyYaml.split('\n')[line - 1] ?? '' };
}

/** The rule that gave the reason, the list of tools, or the row of the role. */
function placeOf(root: YamlMap, { role, outcome, violations, reason }: Decided): number | undefined {
  if (violations.includes('unknown_tool')) return entryOf(root, 'tools')?.at;
  const ids = violations
    .filter((text) => text.endsWith(`: ${reason}`))
    .map((text) => text.slice(0, -reason.length - 2));
  // Rules with other effects may give the same reason.
  if (ids.length > 0) return ids.map((id) => ruleAt(root, { id, outcome })).find((at) => at !== undefined);
  const roles = entryOf(root, 'roles');
  return (entryOf(roles?.value, role) ?? entryOf(roles?.value, '*') ?? roles)?.at;
}

function ruleAt(root: YamlMap, { id, outcome }: { id: string; outcome: string }): number | undefined {
  const rules = entryOf(root, 'rules')?.value;
  const items = rules?.kind === 'list' ? rules.items : [];
  const isIt = (rule: YamlNode) => textOf(rule, 'id') === id && textOf(rule, 'effect') === outcome;
  return entryOf(items.find(isIt), 'id')?.at;
}

function textOf(node: YamlNode, name: string): string | undefined {
  const value = entryOf(node, name)?.value;
  return value?.kind === 'text' ? value.value : undefined;
}

function entryOf(node: YamlNode | undefined, name: string): YamlEntry | undefined {
  return node?.kind === 'map' ? node.entries.find(({ key }) => key === name) : undefined;
}
