import type { Gate } from '../audit/gate.ts';
import { bindingDeps } from '../defaults.ts';
import { bind, type BindingOptions } from '../govern/binding.ts';
import type { Caller } from '../govern/run.ts';
import type { PolicySource } from '../policy/policy-source.ts';

type CallParams = { name: string; arguments?: Record<string, unknown> | undefined };

type ToolPage = { tools: { name: string }[]; nextCursor?: string | undefined };

/** What of an MCP client is governed; the official SDK's `Client` is one. */
export type McpClient = {
  callTool(params: CallParams, ...rest: never[]): Promise<unknown>;
  listTools(params?: { cursor?: string }): Promise<ToolPage>;
};

export type GovernMcpOptions = BindingOptions & { agentName: string };

/** One run's way to the server's tools. */
export type McpRun<Client extends McpClient> = {
  /** As the client's own, once the policy lets the call through; a denial rejects and never reaches the server. */
  callTool: Client['callTool'];
};

export type GovernedMcpClient<Client extends McpClient> = {
  readonly source: PolicySource;
  readonly gate: Gate;
  /** Refreshes the policy and pins it for one run. */
  startRun(caller?: Caller): Promise<McpRun<Client>>;
};

/** No server has more pages of tools than a policy can name tools. */
const TOOL_PAGES_MAX = 256;

/** Binds the tools of a connected MCP client to an agent's policy; throws where there is no policy. */
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
        // Whoever holds the caller's object may change it while an approval is pending.
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
