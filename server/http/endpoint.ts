import type { Request, Response } from 'express';
import type { Static, TObject, TSchema } from 'typebox';
import type { Audience, CallerOf } from '../access/access.ts';
import type { ProblemCode } from '../errors.ts';
import type { Item } from './read-items.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One success answer. A body is JSON by a schema, or text of other media types. Without either, there is no body. */
type Answer = { description: string; schema?: TSchema; mediaTypes?: string[]; headers?: string[] };
type Answers = Record<number, Answer>;
type AnswerBody<A> = A extends { schema: infer S extends TSchema }
  ? Static<S>
  : Answer extends A
    ? unknown
    : undefined;

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

/** The input of a handler: the request, authorized and validated. */
export type Call<P extends string, W extends Audience, Q extends TObject, B extends TSchema> = {
  req: Request;
  res: Response;
  caller: CallerOf<W>;
  params: Record<ParamNames<P>, string>;
  query: Static<Q>;
  body: Static<B>;
  /** The body as it was sent: its numbers have all their digits. */
  text: string;
  /** Reads a body that is declared as a list, and calls `onItem` for each item as it arrives. See `readItems`. */
  readItems(onItem: (item: Item) => void): Promise<void>;
  /**
   * For a change that gives lasting access, once it is stored: identifies the caller again, who may have lost access meanwhile. If so, calls
   * `takeBack` and fails as at the beginning of the call.
   */
  confirm(takeBack: () => Promise<unknown>): Promise<void>;
  /** When (performance.now) the caller began to wait for the service, which is when its body had arrived. */
  sinceMs: number;
  /** Aborts if the caller disconnects before it has its answer. */
  readonly signal: AbortSignal;
  /** The caller's network address, as rate limits and activities use it. */
  readonly address: string;
};

/** The only declaration of an endpoint: routing, authorization, validation, the OpenAPI document and types follow from it. */
export type Endpoint<
  M extends Method = Method,
  P extends string = string,
  W extends Audience = Audience,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
  A extends Answers = Answers,
> = {
  method: M;
  /** As OpenAPI writes it: `/v1/projects/{id}`. */
  path: P;
  /** The operation's id in the OpenAPI document. */
  id: string;
  tag: Tag;
  summary: string;
  description: string;
  /** Who may call it. */
  allow: W;
  /** Throws forbidden if the configuration closes the call, before its body is read. */
  requireOpen?(): void;
  params?: Record<ParamNames<P>, TSchema>;
  /** The last parameter of the path takes the rest of it, including slashes. */
  restParam?: string;
  /** The agent that a call is about. A bearer key that is restricted to other agents gets forbidden. */
  agentOf?(call: Pick<Call<P, W, Q, B>, 'params' | 'body'>): string;
  /** Request headers that have an effect here. */
  headers?: Record<string, string>;
  query?: Q;
  /** `isList`: the handler reads the body with `readItems`, and validates each item itself. */
  body?: { schema: B; example: object; isList?: true };
  /** The success answers, by status. The first is the default. */
  answers: A;
  /** Problems beyond those of the credential, the query, the body and the store. */
  problems?: readonly ProblemCode[];
  /** Deferred log lines cost the caller no time: they are written together, some milliseconds after the answer. */
  log?: 'deferred';
  /** Called with each problem that this endpoint answers with. */
  onProblem?(code: ProblemCode): void;
  /** Returns the body of the answer, or sends the answer itself and returns nothing. */
  handle(
    call: Call<P, W, Q, B>,
  ): Promise<AnswerBody<A[keyof A]> | undefined> | AnswerBody<A[keyof A]> | undefined;
};

/** The parts of the interface, with their descriptions in the OpenAPI document. */
export const TAGS = {
  Ingest: 'Record decisions and token usage.',
  'Audit reads': 'Query the recorded decisions and token usage of a project.',
  'Transparency log': 'Prove that no record was lost, altered, added or removed.',
  'Agents and policies': 'Register agents, fetch and edit their policies, and verify signatures.',
  Accounts: 'Register, sign in and out, verify an e-mail address, reset a password.',
  Projects: 'Projects with their members, bearer keys and activity.',
  Operations: 'Health, metrics and this description.',
} as const;
type Tag = keyof typeof TAGS;

/** Declares an endpoint. Its handler's types follow from the rest of the declaration. */
export function endpoint<
  const M extends Method,
  const P extends string,
  const W extends Audience,
  A extends Answers,
  Q extends TObject = TObject<{}>,
  B extends TSchema = TSchema,
>(declaration: Endpoint<M, P, W, Q, B, A>): Endpoint<M, P, W, Q, B, A> {
  return declaration;
}

/** An endpoint as the dashboard sees it. */
type Contract<E> =
  E extends Endpoint<Method, infer P, Audience, infer Q, infer B, infer A>
    ? {
        params: Record<ParamNames<P>, string>;
        query: Partial<Static<Q>>;
        body: Static<B>;
        answer: AnswerBody<A[keyof A]>;
      }
    : never;

/** The interface by `METHOD path`. */
export type ApiOf<E extends { method: string; path: string }> = {
  [One in E as `${One['method']} ${One['path']}`]: Contract<One>;
};
