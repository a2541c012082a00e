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

/** The engine for policy_yaml. Its decisions have the same bytes as the module's. */
export function createTypescriptEngine(ir: PolicyIr): PolicyEngine {
  const decider = new Decider(ir);
  const decideText = (call: string | Uint8Array): string => decisionText(decider.decide(call));
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
type ReadyRule = Rule & { fires: (args: JsonObject | null) => boolean };

class Decider {
  readonly #tools: ReadonlyMap<string, number>;
  readonly #rows: ReadonlyMap<string, number>;
  readonly #grants: ReadonlyMap<number, Grant>[];
  readonly #rules: ReadyRule[];
  /** For each tool the roles that allow or approve it, sorted by UTF-8 bytes. */
  readonly #allowedRoles: string[][];

  constructor({ tools, roles, rules }: PolicyIr) {
    this.#tools = new Map(tools.map((name, index) => [name, index]));
    this.#rows = new Map(roles.map(({ name }, index) => [name, index]));
    this.#grants = roles.map(
      ({ allow, approve }) => new Map([...grants(allow, 'allow'), ...grants(approve, 'approve')]),
    );
    this.#rules = rules.map((rule) => ({ ...rule, fires: firing(rule) }));
    const sorted = roles.toSorted((a, b) => compareUtf8(a.name, b.name));
    this.#allowedRoles = tools.map((_, tool) =>
      sorted.filter((row) => row.allow.includes(tool) || row.approve.includes(tool)).map(({ name }) => name),
    );
  }

  decide(text: string | Uint8Array): DecisionParts {
    const call = readCall(text);
    if (!call.ok) return unreadableCall(call.code);
    const tool = this.#tools.get(call.tool);
    if (tool === undefined) return UNKNOWN_TOOL;
    const row = this.#rows.get(call.role) ?? this.#rows.get('*');
    const grant = row === undefined ? undefined : this.#grants[row]?.get(tool);
    if (row === undefined || grant === undefined) return roleNotAllowed(this.#allowedRoles[tool] ?? []);
    const start = grant === 'allow' ? ALLOWED : APPROVAL_BY_ROLE;
    return withRules(start, this.#firingRules(tool, row, call.args));
  }

  #firingRules(tool: number, row: number, args: JsonObject | null): Rule[] {
    return this.#rules.filter(
      ({ tools, roles, fires }) =>
        (tools === null || tools.includes(tool)) && (roles === null || roles.includes(row)) && fires(args),
    );
  }
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
