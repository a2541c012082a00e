import { spawn } from 'node:child_process';
import { messageOf } from '../errors.ts';
import { isObject, parsedJson } from '../json.ts';
import type { Logger } from '../logger.ts';
import type { AgentTool } from '../policy/register-agent.ts';
import { RemoteServer } from './http.ts';
import { readLines } from './lines.ts';
import type { Message } from './message.ts';
import type { RemoteAddress } from './session.ts';
import { endServer, type ServerCommand } from './stdio.ts';

export type ServerAddress = ServerCommand | RemoteAddress;

/** A tool as its server lists it. The annotations are the server's own claims. */
export type ListedTool = Exclude<AgentTool, string>;

/** A server may have to be downloaded first. */
const LIST_MS_MAX = 120_000;
/** The service refuses a longer description. */
const DESCRIPTION_CHARACTERS_MAX = 4_000;
const PROTOCOL_VERSION = '2025-06-18';
const METHOD_NOT_FOUND = -32601;

/** All tools of an MCP server, which is started or called for this purpose. Throws if it does not list them within two minutes. */
export async function listServerTools(address: ServerAddress, logger: Logger): Promise<ListedTool[]> {
  const conversation = 'url' in address ? overHttp(address, logger) : overStdio(address);
  const timer = setTimeout(
    () => conversation.fail(`The server did not list its tools in ${LIST_MS_MAX / 1_000} s`),
    LIST_MS_MAX,
  );
  try {
    await conversation.begin();
    const tools: ListedTool[] = [];
    let cursor: unknown;
    do {
      const page = await conversation.request('tools/list', cursor === undefined ? {} : { cursor });
      tools.push(...(Array.isArray(page['tools']) ? page['tools'] : []).flatMap(toolFrom));
      cursor = page['nextCursor'];
    } while (cursor !== undefined && cursor !== null);
    return tools;
  } finally {
    clearTimeout(timer);
    await conversation.end();
  }
}

type Result = Record<string, unknown>;

type Waiting = { resolve: (result: Result) => void; reject: (error: Error) => void };

/** Sends the requests of a client over any transport. */
class Conversation {
  readonly #send: (line: string) => void;
  readonly end: () => Promise<void>;
  readonly #waiting = new Map<unknown, Waiting>();
  #nextId = 1;
  #failure: Error | undefined;

  constructor(transport: { send: (line: string) => void; end: () => Promise<void> }) {
    this.#send = transport.send;
    this.end = transport.end;
  }

  async begin(): Promise<void> {
    const clientInfo = { name: 'gatehouse-client', version: '1' };
    await this.request('initialize', { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo });
    this.#write({ method: 'notifications/initialized' });
  }

  request(method: string, params: object): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      this.#write({ id, method, params });
    });
  }

  /** Handles one line from the server. Other output is not part of the protocol. */
  take(line: string): void {
    const message = parsedJson(line);
    if (!isObject(message)) return;
    const { id, method, result, error } = message;
    if (method !== undefined) return this.#answer(message);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (isObject(result)) waiting?.resolve(result);
    else
      waiting?.reject(
        new Error(`The server did not list its tools: ${String(isObject(error) && error['message'])}`),
      );
  }

  fail(problem: string): void {
    this.#failure = new Error(problem);
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
  }

  #answer({ id, method }: Message): void {
    if (id === undefined) return;
    const error = { code: METHOD_NOT_FOUND, message: 'This client only lists tools' };
    this.#write(method === 'ping' ? { id, result: {} } : { id, error });
  }

  #write(message: object): void {
    this.#send(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

function overStdio({ command, args }: ServerCommand): Conversation {
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = new Promise((resolve) => server.once('close', resolve));
  const conversation = new Conversation({
    send: (line) => void server.stdin.write(line),
    end: async () => {
      if (server.exitCode === null && server.signalCode === null) endServer(server);
      await closed;
    },
  });
  server.stdin.on('error', () => undefined);
  server.on('error', (error) =>
    conversation.fail(`The server ${command} cannot be run: ${messageOf(error)}`),
  );
  server.on('close', (code) =>
    conversation.fail(`The server ${command} ended with ${code ?? 'a signal'} before it listed its tools`),
  );
  readLines(server.stdout, (line) => conversation.take(line.toString())).catch((error: unknown) =>
    conversation.fail(messageOf(error)),
  );
  return conversation;
}

function overHttp(address: RemoteAddress, logger: Logger): Conversation {
  const server = new RemoteServer({ ...address, logger, onMessage: (line) => conversation.take(line) });
  const conversation = new Conversation({ send: (line) => server.send(line), end: () => server.close() });
  return conversation;
}

function toolFrom(value: unknown): ListedTool[] {
  if (!isObject(value) || typeof value['name'] !== 'string') return [];
  const { name, description, annotations } = value;
  const { readOnlyHint, destructiveHint } = isObject(annotations) ? annotations : {};
  const hints = {
    ...(typeof readOnlyHint === 'boolean' && { readOnlyHint }),
    ...(typeof destructiveHint === 'boolean' && { destructiveHint }),
  };
  const text = typeof description === 'string' && {
    description: Array.from(description).slice(0, DESCRIPTION_CHARACTERS_MAX).join(''),
  };
  return [{ name, ...text, ...(Object.keys(hints).length > 0 && { annotations: hints }) }];
}
