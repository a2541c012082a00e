import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { NODE_ENVIRONMENT } from './environment.ts';

/** Connects the official client, with every capability that a server may ask for. */
export async function connectFully(command: string, args: string[]): Promise<Client> {
  const client = new Client(
    { name: 'inspector', version: '1.0.0' },
    { capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: {} } },
  );
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///tmp', name: 'tmp' }] }));
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'm',
    role: 'assistant',
    content: { type: 'text', text: 'sampled ü😀' },
  }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
  await client.connect(new StdioClientTransport({ command, args, env: NODE_ENVIRONMENT, stderr: 'pipe' }));
  return client;
}

/** Does what the MCP inspector does, page by page: lists, reads and calls everything on the server. */
export async function inspect(
  client: Client,
  argumentsOf: (tool: Tool) => Record<string, unknown>,
): Promise<void> {
  const { resources, prompts, completions, logging } = client.getServerCapabilities() ?? {};
  await client.ping();
  await client.sendRootsListChanged();
  if (logging) await client.setLoggingLevel('debug');
  if (resources) {
    const listed = await client.listResources();
    await client.listResourceTemplates();
    for (const { uri } of listed.resources.slice(0, 5)) await tried(client.readResource({ uri }));
    if (resources.subscribe === true && listed.resources[0])
      await tried(client.subscribeResource({ uri: listed.resources[0].uri }));
    await tried(client.readResource({ uri: 'no-such:resource' }));
  }
  if (prompts) {
    const listed = await client.listPrompts();
    for (const { name, arguments: args = [] } of listed.prompts) {
      const given = Object.fromEntries(args.map((argument) => [argument.name, '1']));
      await tried(client.getPrompt({ name, arguments: given }));
      const [first] = args;
      const ref = { type: 'ref/prompt', name } as const;
      if (completions && first)
        await tried(client.complete({ ref, argument: { name: first.name, value: '' } }));
    }
  }
  const { tools } = await client.listTools();
  // Work that a toggle starts keeps a server alive.
  for (const tool of tools.filter(({ name }) => !name.startsWith('toggle')))
    await tried(
      client.callTool({ name: tool.name, arguments: argumentsOf(tool) }, undefined, {
        onprogress: () => undefined,
      }),
    );
  const abort = new AbortController();
  const cancelled = tried(client.request({ method: 'ping' }, z.any(), { signal: abort.signal }));
  abort.abort();
  await cancelled;
}

/** An error of the server is traffic as well. */
async function tried(answer: Promise<unknown>): Promise<void> {
  await answer.catch(() => undefined);
}

/** A value that fits the schema of an argument, like the initial values of the inspector's form. */
export function sampleOf(schema: unknown): unknown {
  const {
    type,
    enum: choices,
    properties,
    required = [],
    default: given,
    minimum,
  } = Object(schema) as {
    type?: string;
    enum?: unknown[];
    properties?: Record<string, unknown>;
    required?: string[];
    default?: unknown;
    minimum?: number;
  };
  if (given !== undefined) return given;
  if (choices) return choices[0];
  if (type === 'object')
    return Object.fromEntries(required.map((name) => [name, sampleOf(properties?.[name])]));
  if (type === 'array') return [];
  if (type === 'number' || type === 'integer') return minimum ?? 1;
  return type === 'boolean' ? true : 'text ü😀';
}

/** The lines of a recording of mcp-tee.ts. */
export async function linesOf(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
}
