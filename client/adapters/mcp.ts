import { bindAs } from '../defaults.ts';
import { ValueError } from '../errors.ts';
import { withBound, type AdapterOptions, type Bound } from '../govern/binding.ts';
import type { DecisionError } from '../govern/decision-errors.ts';
import type { PolicyRun, RunOptions } from '../govern/run.ts';
import { safeLogger } from '../logger.ts';
import { checkedOptions, checkType, requireOptions } from '../options.ts';
import type { AdmittingRun } from './call-or-tell.ts';
import { clientOf, governedCall } from './mcp-client.ts';

export type CallParams = { name: string; arguments?: Record<string, unknown> | undefined };

type ToolPage = { tools: { name: string }[]; nextCursor?: string | undefined };

/** The governed part of an MCP client. Has the shape of the official SDK's `Client`. */
export type McpClient = {
  callTool(params: CallParams, ...rest: never[]): Promise<unknown>;
  listTools(params?: { cursor?: string }, ...rest: never[]): Promise<ToolPage>;
};

export type GovernMcpOptions = AdapterOptions & {
  /** Prefixes the names of this server's tools in the policy and in the records, to tell several servers apart. */
  toolPrefix?: string | undefined;
};

export type McpRun<Client extends McpClient> = {
  /** The client's own `callTool` under the policy of the run. A denied call rejects and does not reach the server. */
  callTool: Client['callTool'];
  /** The same for frameworks that take a client: a denied call returns a result with `isError: true`. */
  client: Client;
};

/** Its own `callTool` uses the caller in the options and the policy of the conversation. */
export type GovernedMcpClient<Client extends McpClient> = Omit<McpRun<Client>, 'client'> &
  Bound & {
    /** The client's own `listTools`. Its first page begins a conversation: the policy is refreshed and pinned. */
    listTools: Client['listTools'];
    /** Refreshes the policy and pins it for one run of this caller. */
    startRun(caller?: RunOptions): Promise<McpRun<Client>>;
  };

/** A policy has at most 256 tools. */
const TOOL_PAGES_MAX = 256;

const UNSEEN =
  'No conversation was seen to begin: the policy was refreshed at the first tool call. Call listTools or startRun at the top of each, or the policy is not refreshed again';

/** Binds the tools of a connected MCP client to an agent's policy; throws if there is no policy. */
export async function governMcpClient<Client extends McpClient>(
  client: Client,
  given: GovernMcpOptions,
): Promise<GovernedMcpClient<Client>> {
  const { toolPrefix: prefix, ...options } = requireOptions('governMcpClient', given);
  if (typeof Object(client).callTool !== 'function' || typeof Object(client).listTools !== 'function')
    throw new ValueError('governMcpClient takes an MCP client, which has callTool and listTools');
  const toolPrefix = prefix ?? '';
  checkType('governMcpClient: toolPrefix', 'string', toolPrefix);
  const checked = checkedOptions('governMcpClient', options);
  const toolNames = options.toolNames ?? (await toolNamesOf(client)).map((name) => toolPrefix + name);
  const binding = await bindAs('governMcpClient', { ...checked, toolNames });
  const startRun = async (caller?: RunOptions): Promise<AdmittingRun> =>
    prefixed(await binding.startRun(caller), toolPrefix);
  let conversation: Promise<AdmittingRun> | undefined;
  const begin = (): Promise<AdmittingRun> => {
    const begun = startRun();
    conversation = begun;
    begun.catch(() => {
      if (conversation === begun) conversation = undefined;
    });
    return begun;
  };
  const beginUnseen = (): Promise<AdmittingRun> => {
    safeLogger(options.logger).warn(UNSEEN, { agent_name: options.agentName });
    return begin();
  };
  const own = {
    callTool: async (params: CallParams, ...rest: never[]) => {
      const called = { ...params };
      return calling(client, await (conversation ?? beginUnseen()))(called, ...rest);
    },
    listTools: async (params?: { cursor?: string }, ...rest: never[]) => {
      if (params?.cursor === undefined) await begin();
      return client.listTools(params, ...rest);
    },
    startRun: async (caller?: RunOptions) => {
      const run = await startRun(caller);
      return { callTool: calling(client, run), client: clientOf(client, run) };
    },
  };
  return withBound(own, binding);
}

/** The run for tools whose names in the policy have this prefix. */
function prefixed(run: PolicyRun, prefix: string): AdmittingRun {
  // The run refuses a name that is not a string, which a caller without types may pass.
  return { admit: (tool, ...rest) => run.admit(typeof tool === 'string' ? prefix + tool : tool, ...rest) };
}

function calling(
  client: McpClient,
  run: AdmittingRun,
): (params: CallParams, ...rest: never[]) => Promise<unknown> {
  const tell = (refusal: DecisionError): never => {
    throw refusal;
  };
  return (params, ...rest) =>
    governedCall({ run, params, rest }, { call: (decided) => client.callTool(decided, ...rest), tell });
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
