import { expect } from 'chai';
import { governHooks, type HookOutput } from '../../../client/adapters/claude-agent-sdk.ts';
import type { ApprovalContext, BindingOptions } from '../../../client/index.ts';
import { startAgentWorld } from '../../support/agent-world.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { AGENT_ROUTE } from '../../support/policy-world.ts';

const POLICY = [
  'version: 1',
  'tools: [Bash, mcp__files__read_file, mcp__shop__read_file]',
  'roles: { "*": { allow: [Bash, mcp__files__read_file], approve: [mcp__shop__read_file] } }',
  'rules: [{ id: no-sudo, tools: [Bash], when: { arg: command, contains: sudo }, effect: deny, reason: No sudo. }]',
  '',
].join('\n');

describe('@gatehouse/client/claude-agent-sdk', () => {
  const world = forEachTest(startAgentWorld);
  const bound = (more: Omit<BindingOptions, 'agentName'> & { caller?: () => object } = {}) =>
    governHooks({ ...world.options, ...more });
  const { signal } = new AbortController();
  const session = { session_id: 's-1', prompt_id: 'p-1' };

  type Bound = Awaited<ReturnType<typeof bound>>;
  const decided = async ({ hooks }: Bound, name: string, tool_input: unknown = {}, more: object = {}) => {
    const input = { ...session, tool_name: name, tool_input, ...more };
    return hooks.PreToolUse[0]?.hooks[0]?.(input, 'toolu_1', { signal });
  };
  const reasonOf = (output: HookOutput | undefined): string =>
    output?.hookSpecificOutput?.permissionDecisionReason ?? 'none';

  it('decides on built-in tools and on those of servers by their names', async () => {
    const governed = await bound({ policy: POLICY, onApproval: () => false });

    expect(await decided(governed, 'Bash', { command: 'ls' })).to.deep.equal({});
    expect(reasonOf(await decided(governed, 'Bash', { command: 'sudo ls' }))).to.include('No sudo.');
    expect(await decided(governed, 'mcp__files__read_file')).to.deep.equal({});
    expect(reasonOf(await decided(governed, 'mcp__shop__read_file'))).to.include('which was refused');
    expect(reasonOf(await decided(governed, 'Write'))).to.include('unknown_tool');
    const [event] = await world.events();
    expect(event).to.include({ tool_name: 'Bash', session_id: 's-1' });
  });

  it('lets an approved call pass the permissions of the session, and gives the approver the call', async () => {
    let asked: ApprovalContext | undefined;
    const governed = await bound({ policy: POLICY, onApproval: (_, context) => ((asked = context), true) });
    const output = await decided(governed, 'mcp__shop__read_file');

    expect(output?.hookSpecificOutput).to.include({ permissionDecision: 'allow' });
    expect(asked).to.include({ callId: 'toolu_1', sessionId: 's-1', signal });
  });

  it('begins a run with each prompt, whether its hook was called or not', async () => {
    const governed = await bound();
    const fetches = (): number => world.mock.seen(AGENT_ROUTE).length;
    await governed.hooks.UserPromptSubmit[0]?.hooks[0]?.(session, undefined, { signal });
    await decided(governed, 'search');
    await decided(governed, 'search');
    expect(fetches()).to.equal(2);
    await decided(governed, 'search', {}, { prompt_id: 'p-2' });
    await decided(governed, 'search', {}, { session_id: 's-2' });

    expect(fetches()).to.equal(4);
  });

  it('denies the call, and blocks the prompt, when it fails itself', async () => {
    const caller = (): never => {
      throw new Error('nobody is signed in');
    };
    const governed = await bound({ caller });
    const begun = await governed.hooks.UserPromptSubmit[0]?.hooks[0]?.(session, undefined, { signal });
    const output = await decided(governed, 'search');

    expect(begun).to.deep.equal({ decision: 'block', reason: 'nobody is signed in' });
    expect(output?.hookSpecificOutput).to.deep.include({ permissionDecision: 'deny' });
    expect(reasonOf(output)).to.include('nobody is signed in');
  });

  it('forgets sessions that end, and the oldest of more than 1,000', async () => {
    let begun = 0;
    const caller = () => ({ userId: String((begun += 1)) });
    const governed = await bound({ policy: POLICY, caller });
    const calls = async (id: number, prompt_id = 'p-1') => {
      await decided(governed, 'Write', {}, { session_id: `s-${id}`, prompt_id });
      return begun;
    };
    for (let id = 0; id < 1_000; id += 1) await calls(id);
    expect(await calls(0)).to.equal(1_000);
    expect(await calls(0, 'p-2')).to.equal(1_001);
    await calls(1_000);
    expect(await calls(0, 'p-2')).to.equal(1_002);
    expect(await calls(1)).to.equal(1_003);
    await governed.hooks.SessionEnd[0]?.hooks[0]?.({ session_id: 's-1' }, undefined, { signal });

    expect(await calls(1)).to.equal(1_004);
  });

  it('requests more time than an approval may take, and blocks a call that no hook answers', async () => {
    const matcherOf = async (more: object) => (await bound(more)).hooks.PreToolUse[0];

    expect(await matcherOf({ approvalTimeoutMs: 600_000 })).to.include({ timeout: 660, onFailure: 'block' });
    expect((await matcherOf({}))?.timeout).to.be.above(86_000);
  });
});
