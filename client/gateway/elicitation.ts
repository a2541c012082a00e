import type { ApprovalContext, ApprovalRequest } from '../govern/approval.ts';
import { isObject } from '../json.ts';
import { visible } from '../visible.ts';
import type { Message } from './message.ts';

/** At most this much of the arguments is shown to a person. */
const SHOWN_CHARACTERS_MAX = 2_000;

const GONE = 'The client is gone';

type Waiting = { resolve: (isApproved: boolean) => void; reject: (error: Error) => void };

/** Asks the person at the client for approvals (MCP elicitation). */
export class Elicitation {
  readonly #send: (message: object) => void;
  readonly #waiting = new Map<unknown, Waiting>();
  #isOffered = false;
  #hasEnded = false;

  constructor(send: (message: object) => void) {
    this.#send = send;
  }

  /** Takes the params of `initialize`, which say what the client can do. */
  offeredBy(params: unknown): void {
    const capabilities = isObject(params) ? params['capabilities'] : undefined;
    const offered = isObject(capabilities) ? capabilities['elicitation'] : undefined;
    // Without a mode, the client supports forms.
    this.#isOffered = isObject(offered) && (Object.keys(offered).length === 0 || 'form' in offered);
  }

  get isOffered(): boolean {
    return this.#isOffered;
  }

  ask(
    { tool, arguments: args, reason }: ApprovalRequest,
    { agentName, signal }: ApprovalContext,
  ): Promise<boolean> {
    const id = `gatehouse-${crypto.randomUUID()}`;
    const text = JSON.stringify(args, null, 1) ?? 'nothing';
    const more = text.length - SHOWN_CHARACTERS_MAX;
    const shown = more > 0 ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}… and ${more} more characters` : text;
    const message = visible(
      `${agentName} wants to call ${tool} with ${shown}\n${reason} Accept to let it run once.`,
    );
    const requestedSchema = { type: 'object', properties: {} };
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) return reject(new Error(GONE));
      const withdraw = (): void => {
        if (!this.#waiting.delete(id)) return;
        const params = { requestId: id, reason: 'The call was cancelled, or the answer is late' };
        this.#send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
      };
      signal?.addEventListener('abort', withdraw, { once: true });
      this.#waiting.set(id, { resolve, reject });
      this.#send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message, requestedSchema } });
    });
  }

  /** The client is gone, so nobody answers any more. */
  end(): void {
    this.#hasEnded = true;
    for (const { reject } of this.#waiting.values()) reject(new Error(GONE));
    this.#waiting.clear();
  }

  /** Whether a message of the client is an answer, which the server must not get. */
  take({ id, method, result, error }: Message): boolean {
    if (method !== undefined || typeof id !== 'string' || !id.startsWith('gatehouse-')) return false;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (isObject(error)) waiting?.reject(new Error(String(error['message'])));
    else waiting?.resolve(isObject(result) && result['action'] === 'accept');
    return true;
  }
}
