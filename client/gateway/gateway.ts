import { messageOf } from '../errors.ts';
import { ApprovalRequiredError, DecisionError, PolicyDeniedError } from '../govern/decision-errors.ts';
import type { PolicyBinding } from '../govern/binding.ts';
import type { PolicyRun } from '../govern/run.ts';
import { isObject, parsedJson } from '../json.ts';
import type { Logger } from '../logger.ts';
import { Elicitation } from './elicitation.ts';
import { isAmbiguous, readMessage, type Message, type Refusal } from './message.ts';
import type { Pins } from './pins.ts';

type Line = Buffer | string;

/** What a gateway needs over any transport. */
export type GatewayParts = { binding: PolicyBinding; pins: Pins; logger: Logger };

type GatewayOptions = GatewayParts & {
  toClient: (line: Line) => void;
  toServer: (line: Line) => void;
};

type Call = Message & { params: Record<string, unknown> };

type ToolList = Message & { result: { tools: unknown[] } };

const CHANGED = {
  reason: 'The description of this tool changed since the agent was registered.',
  violations: ['tool_changed'],
  hint: { code: 'tool_changed', what_to_do: 'Review the tool, then register the agent again.' },
};

/**
 * Sits between an MCP client and a server: decides every `tools/call`, hides tools that the role may not use or whose description changed,
 * and passes on everything else byte for byte. Every method takes one line, including its end.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #elicitation: Elicitation;
  /** By the id of the call: cancels a call that is being decided or waits for an approval. */
  readonly #calls = new Map<string, AbortController>();
  readonly #deciding = new Set<Promise<void>>();
  #run: Promise<PolicyRun> | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#elicitation = new Elicitation((message) => this.#answer(message));
  }

  fromClient(line: Buffer): void {
    if (line.toString('latin1').trim() === '') return;
    const read = readMessage(line);
    if (!read.ok) return this.#refuse(read);
    const { message } = read;
    const { method, params } = message;
    if (method === 'tools/call') {
      const call = this.#call(message as Call).finally(() => this.#deciding.delete(call));
      this.#deciding.add(call);
      return;
    }
    if (this.#elicitation.take(message)) return;
    if (method === 'initialize') {
      this.#elicitation.offeredBy(params);
      void this.#begin();
    }
    if (method === 'tools/list' && (!isObject(params) || params['cursor'] === undefined)) void this.#begin();
    if (method === 'notifications/cancelled' && isObject(params))
      this.#calls.get(JSON.stringify(params['requestId']))?.abort('The client cancelled the call');
    this.#options.toServer(line);
  }

  /** The client has ended its input. Resolves when each of its calls is forwarded or answered; nobody can approve one any more. */
  async end(): Promise<void> {
    this.#elicitation.end();
    await Promise.all(this.#deciding);
  }

  fromServer(line: Buffer): void {
    const { logger, toClient } = this.#options;
    const text = line.toString();
    if (text.trim() === '') return;
    const message = parsedJson(text);
    const batched = Array.isArray(message) ? messagesIn(message) : [];
    if (message === undefined || [message, ...batched].some(isAmbiguous))
      return logger.warn(
        'A message of the server is not passed on: it is not JSON that every client reads alike',
      );
    if (isList(message)) return void this.#list(line, message);
    if (!batched.some(isList)) return toClient(line);
    for (const one of batched) this.fromServer(Buffer.from(lineOf(one)));
  }

  /** A conversation begins: its policy is refreshed, then pinned. */
  #begin(): Promise<PolicyRun> {
    const { isOffered } = this.#elicitation;
    const run = this.#options.binding.startRun(
      isOffered ? { onApproval: (request, context) => this.#elicitation.ask(request, context) } : {},
    );
    this.#run = run;
    run.catch(() => {
      if (this.#run === run) this.#run = undefined;
    });
    return run;
  }

  async #call({ params, ...message }: Call): Promise<void> {
    const { id } = message;
    const [key, abort] = [JSON.stringify(id), new AbortController()];
    if (this.#calls.has(key)) return this.#refuse({ id, code: -32600, problem: 'This id is in use' });
    this.#calls.set(key, abort);
    try {
      const run = await (this.#run ?? this.#begin());
      const name = params['name'] as string;
      this.#refuseHeld(name, params['arguments']);
      const admitted = await run.admit(name, params['arguments'], { callId: key, signal: abort.signal });
      if (abort.signal.aborted) return;
      // Forward the arguments that were decided on, not the original ones.
      const decided = { ...message, params: { ...params, arguments: admitted() } };
      this.#options.toServer(lineOf(decided));
    } catch (error) {
      // A cancelled request has no answer.
      if (!abort.signal.aborted) this.#answer({ jsonrpc: '2.0', id, result: resultOf(error) });
    } finally {
      this.#calls.delete(key);
    }
  }

  #refuseHeld(tool: string, args: unknown): void {
    const { binding, pins } = this.#options;
    if (!pins.isHeld(tool)) return;
    const { role, userId: user_id, sessionId: session_id } = binding.optionsOf();
    const event_id = crypto.randomUUID();
    const called = {
      agent_name: binding.agentName,
      tool_name: tool,
      arguments: args,
      role,
      user_id,
      session_id,
    };
    binding.gate.emit({ ...called, ...CHANGED, event_id, outcome: 'deny' });
    throw new PolicyDeniedError(CHANGED, { tool, event_id });
  }

  async #list(line: Buffer, message: ToolList): Promise<void> {
    const { binding, pins, logger, toClient } = this.#options;
    const { tools } = message.result;
    try {
      const run = await (this.#run ?? this.#begin());
      const held = pins.check(tools, binding.source.agentVersionId);
      if (held.length > 0) logger.warn(`Tools whose description changed are held: ${held.join(', ')}`);
      const nameOf = (tool: unknown): string => String(isObject(tool) ? tool['name'] : '');
      const names = new Set(run.tools(tools.map(nameOf)).filter((name) => !held.includes(name)));
      const shown = tools.filter((tool) => names.has(nameOf(tool)));
      if (shown.length === tools.length) return toClient(line);
      this.#answer({ ...message, result: { ...message.result, tools: shown } });
    } catch (error) {
      logger.error('No tools are listed: there is no policy to list them by', { problem: messageOf(error) });
      this.#answer({ ...message, result: { ...message.result, tools: [] } });
    }
  }

  #answer(message: object): void {
    this.#options.toClient(lineOf(message));
  }

  #refuse({ id, code, problem }: Refusal): void {
    this.#options.logger.warn(problem);
    this.#answer({ jsonrpc: '2.0', id, error: { code, message: problem } });
  }
}

/** Checks only the result: clients differ in which ids they accept as that of their request, and may ignore a method. */
function isList(message: unknown): message is ToolList {
  const result = isObject(message) ? message['result'] : undefined;
  return isObject(result) && Array.isArray(result['tools']);
}

/** The messages of a batch, and of batches in it. Not recursive: a server may nest more of them than the stack holds. */
function messagesIn(batch: readonly unknown[]): unknown[] {
  const all = [...batch];
  for (const one of all) if (Array.isArray(one)) for (const inner of one as unknown[]) all.push(inner);
  return all.filter((one) => !Array.isArray(one));
}

/** Without U+2028 and U+2029, at which Node's readline splits lines. */
function lineOf(message: unknown): string {
  const text = JSON.stringify(message).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  return `${text}\n`;
}

const NO_APPROVER =
  'This client cannot ask a person (it has no MCP elicitation). Ask for a role that may call the tool, or for a change of the policy.';

/** The result of a call that did not run, for the model: what was decided and why. */
function resultOf(error: unknown): object {
  if (!(error instanceof DecisionError))
    return { content: [{ type: 'text', text: `The call was not made: ${messageOf(error)}` }], isError: true };
  const { message, reason, violations, hint, event_id } = error;
  const isUnasked = error instanceof ApprovalRequiredError && error.approval === 'no_approver';
  const refusal = { reason, violations, hint, ...(isUnasked && { what_to_do: NO_APPROVER }) };
  return {
    content: [{ type: 'text', text: `${message}\n${JSON.stringify(refusal)}` }],
    isError: true,
    _meta: { 'gatehouse/event_id': event_id, 'gatehouse/error_type': error.error_type },
  };
}
