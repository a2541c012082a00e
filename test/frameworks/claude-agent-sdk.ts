import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { z } from 'zod';
import { governHooks, type HookInput } from '../../client/adapters/claude-agent-sdk.ts';
import type { RunOptions } from '../../client/index.ts';
import {
  adapterContract,
  type AdapterHarness,
  type Steps,
  type TestTools,
} from '../support/adapters/contract.ts';
import { schemaOf } from '../support/adapters/schemas.ts';
import { imported } from './installed.ts';
import { startMessagesApi } from './messages-api.ts';

type Message = { result?: string };

/** The used part of the Claude Agent SDK, which is installed elsewhere with Claude Code. */
type Sdk = {
  query: (call: { prompt: unknown; options: object }) => AsyncIterable<Message>;
  tool: (
    name: string,
    description: string,
    schema: z.core.$ZodShape,
    handler: (args: unknown) => Promise<object>,
    more: object,
  ) => object;
  createSdkMcpServer: (options: object) => object;
};

const { query, tool, createSdkMcpServer } = await imported<Sdk>('@anthropic-ai/claude-agent-sdk');

type Hooks = Awaited<ReturnType<typeof governHooks>>['hooks'];

const PREFIX = 'mcp__tools__';
const nameOf = (name: string): string => PREFIX + name;
const home = mkdtempSync(join(tmpdir(), 'gatehouse-claude-'));
const elsewhere: string[] = [];

type Session = {
  steps: Steps;
  hooks: Hooks;
  sessionId?: string;
  nameOf?: (tool: string) => string;
  onModel?: (() => void) | undefined;
};

/** One prompt of a separate session; returns the text of the result of each call. Throws if the model was not called. */
async function promptOnce(
  { steps, hooks, sessionId, nameOf = (name) => name, onModel }: Session,
  options: object,
): Promise<string[]> {
  const api = await startMessagesApi(steps, { nameOf, onModel });
  try {
    let result: string | undefined;
    const all = { ...settings(api.url), sessionId, hooks, ...options };
    for await (const message of query({ prompt: 'Go.', options: all })) result = message.result;
    elsewhere.push(...api.elsewhere());
    if (api.asked() === 0) throw new Error(result);
    return api.results();
  } finally {
    await api.close();
  }
}

/** Sessions of the real Claude Code; the tools are those of an MCP server in this process. */
const claudeHarness: AdapterHarness = {
  isStreaming: true,
  bind: async (tools, options) => {
    const callers = new Map<string, RunOptions>();
    const caller = ({ session_id }: HookInput) => callers.get(session_id) ?? {};
    const { hooks } = await governHooks({ ...options, caller });
    return (steps, { caller: own = {}, isStreamed = false, onModel }) => {
      const sessionId = randomUUID();
      callers.set(sessionId, own);
      // The third tool passes only if the hook says so.
      const allowedTools = [nameOf('search'), nameOf('write')];
      return promptOnce(
        { steps, hooks: withoutPrefix(hooks), sessionId, nameOf, onModel },
        {
          tools: [],
          allowedTools,
          mcpServers: { tools: serverOf(tools) },
          includePartialMessages: isStreamed,
        },
      );
    };
  },
};

/** No settings of the user, and no address except that of the mock, which also acts as a proxy. */
function settings(url: string): object {
  return {
    settingSources: [],
    cwd: home,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'mock',
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      NO_PROXY: '127.0.0.1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
    },
  };
}

function serverOf(tools: TestTools): object {
  return createSdkMcpServer({
    name: 'tools',
    tools: Object.entries(tools).map(([name, execute]) =>
      tool(
        name,
        name,
        schemaOf(name).shape,
        async (args) => ({ content: [{ type: 'text', text: String(await execute(args)) }] }),
        { alwaysLoad: true },
      ),
    ),
  });
}

/** The policy of the contract names tools without their server. */
function withoutPrefix(hooks: Hooks): Hooks {
  const plain = (input: HookInput & { tool_name?: string }): HookInput =>
    input.tool_name === undefined
      ? input
      : ({ ...input, tool_name: input.tool_name.replace(PREFIX, '') } as HookInput);
  const PreToolUse = hooks.PreToolUse.map((matcher) => ({
    ...matcher,
    hooks: matcher.hooks.map(
      (hook) => ((input, ...more) => hook(plain(input), ...more)) satisfies typeof hook,
    ),
  }));
  return { ...hooks, PreToolUse };
}

adapterContract('the real Claude Agent SDK', claudeHarness);

describe('Claude Code', () => {
  after(() => rmSync(home, { recursive: true, force: true }));

  it('runs built-in tools as the policy decides', async () => {
    const policy = [
      'version: 1',
      'tools: [Bash]',
      'roles: { "*": { approve: [Bash] } }',
      'rules: [{ id: no-rm, tools: [Bash], when: { arg: command, contains: rm }, effect: deny, reason: No rm. }]',
      '',
    ].join('\n');
    const { hooks } = await governHooks({ agentName: 'support-bot', policy, onApproval: () => true });
    const bash = (command: string) => ({ name: 'Bash', args: { command, description: 'A command' } });
    const steps = [[bash('echo one > kept')], [bash('rm kept')], [bash('cat kept')]];
    const texts = await promptOnce({ steps, hooks }, { tools: ['Bash'] });

    expect(texts[1]).to.include('No rm.');
    expect(texts[2]).to.equal('one');
  });

  it('contacted no other address', () => {
    expect(elsewhere).to.deep.equal([]);
  });
});
