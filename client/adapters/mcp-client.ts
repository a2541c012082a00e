import type { DecisionError } from '../govern/decision-errors.ts';
import { callOrTell, type AdmittingRun } from './call-or-tell.ts';
import type { CallParams, McpClient } from './mcp.ts';

type Request = { method: string; params?: CallParams };
type Requesting = { request(request: Request, ...rest: unknown[]): Promise<unknown> };

/** Ways to call a tool that bypass `callTool` and `request`. */
const UNGOVERNED = new Set<string | symbol>(['requestStream', 'experimental']);

type ToolCall = { run: AdmittingRun; params: CallParams; rest: readonly unknown[] };
type Endings = {
  call: (params: CallParams) => Promise<unknown>;
  tell: (refusal: DecisionError) => unknown;
};

/** Calls a tool with the arguments that were decided on, or explains why not. */
export async function governedCall(
  { run, params, rest }: ToolCall,
  { call, tell }: Endings,
): Promise<unknown> {
  // The caller's object could change while an approval is pending.
  const called = { ...params };
  // The official client takes a schema and request options.
  const { signal } = (rest[1] ?? {}) as { signal?: AbortSignal };
  return callOrTell(
    { run, tool: called.name, args: called.arguments, signal },
    { execute: (args) => call({ ...called, arguments: args as CallParams['arguments'] }), tell },
  );
}

/**
 * The client under the policy of one run, for frameworks that take a client. A refused call returns a result with `isError: true`, which
 * frameworks give to the model. Everything else is the client's own, except for streamed and experimental requests, which are missing.
 */
export function clientOf<Client extends McpClient>(client: Client, run: AdmittingRun): Client {
  const tell = (refusal: DecisionError) => ({
    content: [{ type: 'text', text: String(refusal) }],
    isError: true,
  });
  const own = {
    callTool: (params: CallParams, ...rest: never[]) =>
      governedCall({ run, params, rest }, { call: (decided) => client.callTool(decided, ...rest), tell }),
    request: ({ ...request }: Request, ...rest: unknown[]) => {
      const call = (params = request.params) =>
        (client as unknown as Requesting).request({ ...request, ...(params && { params }) }, ...rest);
      if (request.method !== 'tools/call') return call();
      return governedCall({ run, params: request.params ?? { name: '' }, rest }, { call, tell });
    },
  };
  return new Proxy(client, {
    get: (target, key) => {
      if (UNGOVERNED.has(key)) return undefined;
      const value: unknown = Object.hasOwn(own, key)
        ? own[key as keyof typeof own]
        : Reflect.get(target, key, target);
      return typeof value === 'function' && key !== 'constructor' ? (value.bind(target) as unknown) : value;
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  });
}
