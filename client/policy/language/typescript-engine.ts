import { callTextFrom } from './call-text.ts';
import {
  ALLOWED,
  APPROVAL_BY_ROLE,
  decisionText,
  roleNotAllowed,
  UNKNOWN_TOOL,
  unreadableCall,
} from './decision.ts';
import type { Decision, DecisionParts, PolicyCall, PolicyEngine } from './decision.ts';
import { conditionTest, type ConditionTest } from './evaluate-condition.ts';
import type { JsonObject } from './json-value.ts';
import { VIOLATIONS_MAX } from './limits.ts';
import type { PolicyIr, Rule } from './policy-ir.ts';
import { readCall } from './read-call.ts';
import { compareUtf8 } from './utf8.ts';

/** The engine for policy_yaml. Its decisions are byte for byte those of the module. */
export function createTypescriptEngine(ir: PolicyIr): PolicyEngine {
  const decide = compiled(ir);
  const decideText = (call: string | Uint8Array): string => decisionText(decide(call));
  return {
    decide(call: PolicyCall): Decision {
      const written = callTextFrom(call);
      const text = written.ok ? decideText(written.text) : decisionText(unreadableCall(written.code));
      return JSON.parse(text) as Decision;
    },
    decideText,
  };
}

type Grant = 'allow' | 'approve';

/** Prepares the policy once; the function decides one call. */
function compiled({ tools, roles, rules }: PolicyIr): (text: string | Uint8Array) => DecisionParts {
  const toolIndexes = new Map(tools.map((name, index) => [name, index]));
  const rowIndexes = new Map(roles.map(({ name }, index) => [name, index]));
  const rowGrants = roles.map(
    ({ allow, approve }) => new Map([...grants(allow, 'allow'), ...grants(approve, 'approve')]),
  );
  const readyRules = rules.map((rule) => ({ ...rule, fires: firing(rule) }));
  const sorted = roles.toSorted((a, b) => compareUtf8(a.name, b.name));
  // For each tool, the roles that may use it, with or without approval.
  const allowedRoles = tools.map((_, tool) =>
    sorted.filter((row) => row.allow.includes(tool) || row.approve.includes(tool)).map(({ name }) => name),
  );
  return (text) => {
    const call = readCall(text);
    if (!call.ok) return unreadableCall(call.code);
    const tool = toolIndexes.get(call.tool);
    if (tool === undefined) return UNKNOWN_TOOL;
    const row = rowIndexes.get(call.role) ?? rowIndexes.get('*');
    const grant = row === undefined ? undefined : rowGrants[row]?.get(tool);
    if (row === undefined || grant === undefined) return roleNotAllowed(allowedRoles[tool] ?? []);
    const fired = readyRules.filter(
      (rule) =>
        (rule.tools === null || rule.tools.includes(tool)) &&
        (rule.roles === null || rule.roles.includes(row)) &&
        rule.fires(call.args),
    );
    return withRules(grant === 'allow' ? ALLOWED : APPROVAL_BY_ROLE, fired);
  };
}

function grants(tools: number[], grant: Grant): [number, Grant][] {
  return tools.map((tool) => [tool, grant]);
}

function firing({ when, require }: Rule): (args: JsonObject | null) => boolean {
  const whenTest = when && conditionTest(when);
  const requireTest = require && conditionTest(require);
  const holds = (test: ConditionTest, args: JsonObject | null): boolean =>
    test({ args: args ?? undefined, element: undefined });
  return (args) =>
    (whenTest === null || holds(whenTest, args)) && (requireTest === null || !holds(requireTest, args));
}

/** Rules only restrict. The first rule with the strongest effect sets reason and hint. */
function withRules(start: DecisionParts, fired: Rule[]): DecisionParts {
  const deciding = fired.find(({ effect }) => effect === 'deny') ?? fired[0];
  if (deciding === undefined) return start;
  const violations = [...start.violations, ...fired.map(({ id, reason }) => `${id}: ${reason}`)];
  return {
    outcome: deciding.effect,
    reason: deciding.reason,
    violations: violations.slice(0, VIOLATIONS_MAX),
    hintText: deciding.hintText,
  };
}
