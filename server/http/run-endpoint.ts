import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { TObject, TSchema } from 'typebox';
import { type Access, type Audience, type CallerOf, type Identify, requireAgent } from '../access/access.ts';
import { parseJson } from '../json.ts';
import { BODY_PROMPT_MS_MAX } from '../limits.ts';
import { createParser } from '../validate.ts';
import type { Call, Endpoint } from './endpoint.ts';
import { answerError, problemFrom } from './error-handler.ts';
import type { Observe } from './observe.ts';
import { NO_CACHE } from './problem.ts';
import { createQueryParser } from './query.ts';
import { addressOf } from './rate-limit.ts';
import { type ArrivingBytes, readBody } from './read-body.ts';
import { type Item, readItems } from './read-items.ts';

export type EdgeDeps = { access: Access; observe: Observe; logger: Logger };
/** The bodies that arrive from callers with and without a credential. */
export type Arriving = { known: ArrivingBytes; strangers: ArrivingBytes };

/**
 * Returns the Express handler of an endpoint. The order: credential, whether the call is open, query, body, credential again if the body
 * took its time, agent, handler, answer.
 */
export function createHandler(
  endpoint: Endpoint,
  { access, observe, logger, arriving }: EdgeDeps & { arriving: Arriving },
): RequestHandler {
  const { allow, log } = endpoint;
  const isPrivate = endpoint.path.startsWith('/v1/');
  const identify = access(allow);
  const parseQuery = endpoint.query && createQueryParser(endpoint.query);
  const parseBody =
    endpoint.body === undefined || endpoint.body.isList ? undefined : createParser(endpoint.body.schema);
  const { properties: known = {} }: { properties?: object } = endpoint.body?.schema ?? {};
  const [status = 200] = Object.keys(endpoint.answers).map(Number);
  return async (req: Request, res: Response) => {
    if (log === 'deferred') observe(req, res, log);
    if (isPrivate) res.setHeader('Cache-Control', NO_CACHE);
    const call = new EndpointCall(req, res, { arriving, identify });
    try {
      await call.identify();
      endpoint.requireOpen?.();
      if (parseQuery !== undefined) call.query = parseQuery(req.originalUrl);
      if (parseBody !== undefined) {
        const parse = (text: string) => {
          call.text = text;
          call.body = parseBody(parseJson(text));
        };
        await call.arrived(readBody(req, { arriving: call.arriving, parse }));
        if (call.caller === undefined) call.forgetUnknown(known);
      }
      if (endpoint.agentOf !== undefined) requireAgent(call.caller, endpoint.agentOf(call));
      call.beginWait();
      res.statusCode = status;
      const body = await endpoint.handle(call);
      if (body !== undefined) res.json(body);
      else if (!res.headersSent) res.end();
    } catch (error) {
      if (call.isAbandoned) return;
      endpoint.onProblem?.(problemFrom(error).code);
      answerError(error, { res, logger });
    }
  };
}

/** Express returns a parameter that takes the rest of the path as a list of segments. */
function paramsOf({ params }: Request): Record<string, string> {
  for (const [name, value] of Object.entries(params))
    if (Array.isArray(value)) params[name] = value.join('/');
  return params as Record<string, string>;
}

class EndpointCall implements Call<string, Audience, TObject, TSchema> {
  readonly req: Request;
  readonly res: Response;
  readonly params: Record<string, string>;
  caller: CallerOf<Audience>;
  query = {};
  body: unknown;
  text = '';
  sinceMs = 0;
  #credentialMs = 0;
  readonly #arriving: Arriving;
  readonly #identify: Identify;
  #signal: AbortSignal | undefined;

  constructor(
    req: Request,
    res: Response,
    { arriving, identify }: { arriving: Arriving; identify: Identify },
  ) {
    this.req = req;
    this.res = res;
    this.#arriving = arriving;
    this.#identify = identify;
    this.params = paramsOf(req);
  }

  async identify(): Promise<void> {
    const startMs = performance.now();
    this.caller = await this.#identify(this.req, this.params);
    this.#credentialMs += performance.now() - startMs;
  }

  confirm(takeBack: () => Promise<unknown>): Promise<void> {
    return this.identify().catch(async (error: unknown) => {
      await takeBack();
      throw error;
    });
  }

  get arriving(): ArrivingBytes {
    return this.caller === undefined ? this.#arriving.strangers : this.#arriving.known;
  }

  async readItems(onItem: (item: Item) => void): Promise<void> {
    await this.arrived(readItems(this.req, { arriving: this.arriving, onItem }));
    this.beginWait();
  }

  /** Waits for a body. The caller may lose access while it arrives. */
  async arrived<T>(body: Promise<T>): Promise<T> {
    // Most bodies have arrived by the time the store has identified the caller.
    const isHere = this.req.complete;
    const startMs = performance.now();
    const read = await body;
    if (!isHere && performance.now() - startMs > BODY_PROMPT_MS_MAX) await this.identify();
    return read;
  }

  /** A call without a credential may wait for long, so it keeps only the known members of its body, which are bounded. */
  forgetUnknown(known: object): void {
    const members = Object.entries(this.body as object);
    this.body = Object.fromEntries(members.filter(([name]) => Object.hasOwn(known, name)));
    this.text = '';
  }

  beginWait(): void {
    this.sinceMs = performance.now() - this.#credentialMs;
  }

  get signal(): AbortSignal {
    this.#signal ??= disconnectSignal(this.res);
    return this.#signal;
  }

  get address(): string {
    return addressOf(this.req);
  }

  /** True once the handler's work was aborted: nobody waits for its result. */
  get isAbandoned(): boolean {
    return this.#signal?.aborted === true;
  }
}

/** A signal that aborts if the caller disconnects before it has its answer. A failed response is not a disconnect. */
function disconnectSignal(res: Response): AbortSignal {
  const disconnect = new AbortController();
  const onClose = () => {
    if (!res.writableFinished && res.errored === null) disconnect.abort();
  };
  if (res.closed) onClose();
  else res.on('close', onClose);
  return disconnect.signal;
}
