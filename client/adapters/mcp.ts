import type { Gate } from '../audit/gate.ts';
import { bindingDeps } from '../defaults.ts';
import { bind, type BindingOptions } from '../govern/binding.ts';
import type { Caller } from '../govern/run.ts';
import type { PolicySource } from '../policy/policy-source.ts';

type CallParams = { name: string; arguments?: Record<string, unknown> | undefined };

type ToolPage = { tools: { name: string }[]; nextCursor?: string | undefined };

/** The part of an MCP client that is governed, as the official SDK's `Client` has it. */
export type McpClient = {
  callTool(params: CallParams, ...rest: never[]): Promise<unknown>;
  listTools(params?: { cursor?: string }): Promise<ToolPage>;
};

export type GovernMcpOptions = BindingOptions & { agentName: string };

export type McpRun<Client extends McpClient> = {
  /** The client's own `callTool` under the policy. A denied call rejects and does not reach the server. */
  callTool: Client['callTool'];
};

export type GovernedMcpClient<Client extends McpClient> = {
  readonly source: PolicySource;
  readonly gate: Gate;
  /** Refreshes the policy and pins it for one run. */
  startRun(caller?: Caller): Promise<McpRun<Client>>;
};

/** A policy has at most 256 tools. */
const TOOL_PAGES_MAX = 256;

/** Binds the tools of a connected MCP client to an agent's policy; throws if there is no policy. */
export async function governMcpClient<Client extends McpClient>(
  client: Client,
  options: GovernMcpOptions,
): Promise<GovernedMcpClient<Client>> {
  const toolNames = options.toolNames ?? (await toolNamesOf(client));
  const binding = await bind(options.agentName, { ...options, toolNames }, bindingDeps);
  return {
    source: binding.source,
    gate: binding.gate,
    startRun: async (caller) => {
      const run = await binding.startRun(caller);
      const callTool = (params: CallParams, ...rest: never[]): Promise<unknown> => {
        // The caller's object could change while an approval is pending.
        const called = { ...params };
        return run.call(called.name, called.arguments, (decided) =>
          client.callTool({ ...called, arguments: decided as CallParams['arguments'] }, ...rest),
        );
      };
      return { callTool };
    },
  };
}

async function toolNamesOf(client: McpClient): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < TOOL_PAGES_MAX; page += 1) {
    const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor });
    names.push(...tools.map(({ name }) => name));
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return names;
}
