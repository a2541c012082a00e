import { timerMs } from '../config.ts';
import { bindAs } from '../defaults.ts';
import { messageOf } from '../errors.ts';
import { withBound, type AdapterOptions, type Bound, type PolicyBinding } from '../govern/binding.ts';
import { DecisionError } from '../govern/decision-errors.ts';
import type { PolicyRun, RunOptions } from '../govern/run.ts';
import { checkType, requireOptions } from '../options.ts';

/** The input that Claude Code passes to every hook. */
export type HookInput = {
  session_id: string;
  /** Stays the same from one user prompt to the next. */
  prompt_id?: string;
  /** Set within a subagent. */
  agent_type?: string;
};

/** The output of a hook. */
export type HookOutput = {
  decision?: 'block';
  reason?: string;
  hookSpecificOutput?: {
    hookEventName: 'PreToolUse';
    permissionDecision: 'allow' | 'deny';
    permissionDecisionReason: string;
  };
};

type Hook = (
  input: HookInput,
  toolUseId: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookOutput>;
type Matcher = { hooks: Hook[]; timeout?: number; onFailure?: 'block' };

export type GovernHooksOptions = AdapterOptions & {
  /** The caller of a run. Default the caller in these options, with the id of the session. */
  caller?: ((input: HookInput) => RunOptions) | undefined;
};

export type GovernedHooks = Bound & {
  /** For the `hooks` of `query`. Serves any number of sessions. */
  hooks: Record<'UserPromptSubmit' | 'PreToolUse' | 'SessionEnd', Matcher[]>;
};

/** With more sessions than this, those that never reported their end are forgotten. */
const SESSIONS_MAX = 1_000;
const APPROVAL_WAIT_MS_MAX = 24 * 60 * 60_000;

type Session = { promptId: string | undefined; run: Promise<PolicyRun> };
type ToolInput = HookInput & { tool_name: string; tool_input: unknown };

/**
 * Hooks that put the sessions of the Claude Agent SDK under an agent's policy; throws if there is no policy. Each prompt of the user begins
 * a run. Claude Code decides how to treat a hook's output. To enforce a policy on tools of MCP servers, put the gateway in front of the
 * servers.
 */
export async function governHooks(given: GovernHooksOptions): Promise<GovernedHooks> {
  const { caller, ...options } = requireOptions('governHooks', given);
  checkType('governHooks: caller', 'function', caller ?? null);
  const binding = await bindAs('governHooks', options);
  const sessions = new Sessions(binding, caller);
  const { approvalTimeoutMs = APPROVAL_WAIT_MS_MAX } = options;
  const begin: Hook = async (input) => {
    try {
      await sessions.begin(input);
      return {};
    } catch (error) {
      return { decision: 'block', reason: messageOf(error) };
    }
  };
  const decide: Hook = (input, callId, { signal }) =>
    decided(sessions, { input: input as ToolInput, callId, signal });
  const end: Hook = async (input) => {
    sessions.end(input);
    return {};
  };
  const hooks: GovernedHooks['hooks'] = {
    UserPromptSubmit: [{ hooks: [begin], onFailure: 'block' }],
    // Claude Code gives a hook a minute by default, and an approval may take longer.
    PreToolUse: [{ hooks: [decide], timeout: timerMs(approvalTimeoutMs) / 1000 + 60, onFailure: 'block' }],
    SessionEnd: [{ hooks: [end] }],
  };
  return withBound({ hooks }, binding);
}

type Call = { input: ToolInput; callId: string | undefined; signal: AbortSignal };

/** Never rejects, because a failed hook may let the call pass. The permissions of the session decide about an allowed call. */
async function decided(sessions: Sessions, { input, callId, signal }: Call): Promise<HookOutput> {
  try {
    const run = await sessions.of(input);
    const admitted = run.admit(input.tool_name, input.tool_input, { callId, signal });
    if (typeof admitted === 'function') return {};
    (await admitted)();
    return permission('allow', 'This call was approved.');
  } catch (error) {
    return permission(
      'deny',
      error instanceof DecisionError ? String(error) : `The call was not made: ${messageOf(error)}`,
    );
  }
}

function permission(permissionDecision: 'allow' | 'deny', permissionDecisionReason: string): HookOutput {
  return {
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
  };
}

/** The runs of the open sessions, by session id. */
class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #binding: PolicyBinding;
  readonly #caller: GovernHooksOptions['caller'];

  constructor(binding: PolicyBinding, caller: GovernHooksOptions['caller']) {
    this.#binding = binding;
    this.#caller = caller;
  }

  begin(input: HookInput): Promise<PolicyRun> {
    const { sessionId = input.session_id } = this.#binding.optionsOf();
    const run = this.#binding.startRun({ sessionId, ...this.#caller?.(input) });
    this.#sessions.delete(input.session_id);
    this.#sessions.set(input.session_id, { promptId: input.prompt_id, run });
    run.catch(() => this.end(input));
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > SESSIONS_MAX && oldest !== undefined) this.#sessions.delete(oldest);
    return run;
  }

  /** The run of the prompt that this call comes from. */
  of(input: HookInput): Promise<PolicyRun> {
    const known = this.#sessions.get(input.session_id);
    return known && known.promptId === input.prompt_id ? known.run : this.begin(input);
  }

  end({ session_id }: HookInput): void {
    this.#sessions.delete(session_id);
  }
}
