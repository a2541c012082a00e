import { stringify } from 'yaml';
import {
  type CallText,
  createTypescriptEngine,
  type Decision,
  decisionText,
  defaultPolicy,
  parsePolicy,
  type PolicyEngine,
  type PolicyFault,
  unreadableCall,
} from '../../client/policy/language/index.ts';
import { compilePolicy, type CompiledPolicy } from '../policy/compile-policy.ts';
import { loadRuntime } from '../policy/load-runtime.ts';
import type { AgentTool } from './agent-version.ts';
import { Replay } from './replay.ts';
import { yamlFaults } from './yaml-faults.ts';

/** The tasks that a thread runs for callers. With hostile input, each of them may take seconds. */
export type PolicyTasks = ReturnType<typeof createPolicyTasks>;

export type Manifest = { name: string; tools: AgentTool[] };
type CheckInput = { policy_yaml: string; calls: CallText[] | undefined; current: string | undefined };
type Compiled = { ok: true; compiled: CompiledPolicy } | { ok: false; errors: PolicyFault[] };

/** The size of a module does not depend on its record. */
const NO_RECORD_HASH = '0'.repeat(64);

/** Returns the tasks of one thread, which keep the policy of its last check. */
export function createPolicyTasks() {
  const runtime = loadRuntime();
  let replay: Replay | undefined;

  function compile({ policy_yaml, recordHash }: { policy_yaml: string; recordHash: string }): Compiled {
    const parsed = parsePolicy(policy_yaml);
    if (!parsed.ok) return parsed;
    return { ok: true, compiled: compilePolicy({ ir: parsed.ir, runtime, recordHash }) };
  }

  return {
    /** The texts that a registration makes from its manifest. */
    draft: (manifest: Manifest) => ({
      agent_yaml: stringify(manifest),
      policy_yaml: defaultPolicy(manifest),
    }),
    compile,
    /** The errors of a definition. */
    yamlFaults,
    /** Checks a policy, decides the calls by it, and keeps it for `replayRows`, together with the saved policy `current`. */
    check({ policy_yaml, calls, current }: CheckInput) {
      const parsed = parsePolicy(policy_yaml);
      if (!parsed.ok) return { valid: false as const, errors: parsed.errors };
      const engine = createTypescriptEngine(parsed.ir);
      replay = new Replay({ draft: engine, current: current === policy_yaml ? engine : engineOf(current) });
      const compiled = compilePolicy({ ir: parsed.ir, runtime, recordHash: NO_RECORD_HASH });
      const decisions =
        calls === undefined ? {} : { decisions: calls.map((call) => decisionOf(engine, call)) };
      return { valid: true as const, errors: [], ...sizeOf(compiled), ...decisions };
    },
    /** Decides a page of recorded decisions, which are JSON lines. */
    replayRows: (lines: Uint8Array) => replay?.addRows(lines),
    replayed: () => replay?.result(),
  };
}

/** Null if there is no such policy, or if this version of the service cannot read it. */
function engineOf(policyYaml: string | undefined): PolicyEngine | null {
  const parsed = policyYaml === undefined ? undefined : parsePolicy(policyYaml);
  return parsed?.ok === true ? createTypescriptEngine(parsed.ir) : null;
}

function sizeOf(compiled: CompiledPolicy) {
  return compiled.module === null
    ? { bundle: 'absent' as const, bundle_absent_reason: compiled.absentReason, module_bytes: null }
    : { bundle: 'signed' as const, module_bytes: compiled.module.length };
}

function decisionOf(engine: PolicyEngine, call: CallText): Decision {
  const text = call.ok ? engine.decideText(call.text) : decisionText(unreadableCall(call.code));
  return JSON.parse(text) as Decision;
}
