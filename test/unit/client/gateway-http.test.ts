import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { json, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import { z } from 'zod';
import { RemoteServer } from '../../../client/gateway/http.ts';
import { captureLogger } from '../../support/capture-logger.ts';
import { useCleanups } from '../../support/cleanups.ts';
import { NODE_ENVIRONMENT } from '../../support/environment.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFile } from '../../support/temporary-file.ts';
import { listen } from '../../support/listen.ts';

const CLI = fileURLToPath(new URL('../../../client/cli.ts', import.meta.url));
const POLICY = 'version: 1\ntools: [search, write]\nroles: { "*": { allow: [search] } }\nrules: []\n';

for (const enableJsonResponse of [false, true]) {
  describe(`npx @gatehouse/client mcp --url, ${enableJsonResponse ? 'JSON answers' : 'streams'}`, () => {
    let http: Server;
    let server: McpServer;
    let client: Client;
    let ran: string[];
    let requests: { method: string | undefined; headers: IncomingMessage['headers'] }[];

    beforeEach(async () => {
      [ran, requests] = [[], []];
      server = new McpServer({ name: 'remote-tools', version: '1.0.0' });
      for (const name of ['search', 'write']) {
        server.registerTool(name, { inputSchema: { query: z.string() } }, ({ query }) => {
          ran.push(`${name} ${query}`);
          return { content: [{ type: 'text', text: `ran ${query}` }] };
        });
      }
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse,
      });
      await server.connect(transport);
      http = createServer((request: IncomingMessage, response: ServerResponse) => {
        requests.push({ method: request.method, headers: request.headers });
        void transport.handleRequest(request, response);
      });
      const port = await listen(http);
      const file = await temporaryFile('policy.yaml', POLICY);
      const args = [CLI, 'mcp', '--agent', 'support-bot', '--local-policy', file];
      const remote = ['--url', `http://127.0.0.1:${port}/mcp`, '--header', 'Authorization: Bearer ${TOKEN}'];
      const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
      const env = { PATH, NODE_COMPILE_CACHE, TOKEN: 'of-the-server' };
      client = new Client({ name: 'test', version: '1.0.0' });
      const command = { command: process.execPath, args: [...args, ...remote], env, stderr: 'pipe' as const };
      await client.connect(new StdioClientTransport(command));
    });

    afterEach(async () => {
      await client.close();
      http.closeAllConnections();
      http.close();
    });

    const textOf = async (name: string, query: string): Promise<string | undefined> => {
      const { content } = await client.callTool({ name, arguments: { query } });
      return (content as { text: string }[])[0]?.text;
    };

    it('shows and calls what is allowed, and nothing that is denied reaches the server', async () => {
      expect((await client.listTools()).tools.map(({ name }) => name)).to.deep.equal(['search']);
      const texts = await Promise.all(['ä\n', 'b', 'c'].map((query) => textOf('search', query)));

      expect(texts).to.deep.equal(['ran ä\n', 'ran b', 'ran c']);
      expect(await textOf('write', 'x')).to.match(/^write is denied/);
      expect(ran.toSorted()).to.deep.equal(['search b', 'search c', 'search ä\n']);
    });

    it('sends the credentials, the session and the version, and ends the session with the client', async () => {
      await textOf('search', 'x');
      await client.close();
      await eventually(() => requests.find(({ method }) => method === 'DELETE'));

      for (const { headers } of requests) expect(headers.authorization).to.equal('Bearer of-the-server');
      const [, ...later] = requests;
      const sessions = new Set(later.map(({ headers }) => headers['mcp-session-id']));
      expect(sessions).to.have.property('size', 1);
      for (const { headers } of later) expect(headers['mcp-protocol-version']).to.match(/^20\d\d-/);
    });

    it('passes on messages that the server sends by itself', async () => {
      let isChanged = false;
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (isChanged = true));
      await eventually(() => requests.find(({ method }) => method === 'GET'));
      server.sendToolListChanged();

      await eventually(() => isChanged);
    });

    it('answers with the reason when the server cannot be reached', async () => {
      http.closeAllConnections();
      http.close();
      const fault = await textOf('search', 'x').catch((error: Error) => error.message);

      expect(fault).to.match(/-32000/);
    });
  });
}

describe('RemoteServer', () => {
  const { cleanups } = useCleanups();
  const notification = '{"jsonrpc":"2.0","method":"notifications/progress"}\n';

  /** Gives each request to the handler. */
  const start = async (handler: RequestListener, options: { acceptMs?: number } = {}) => {
    const http = createServer(handler);
    const url = `http://127.0.0.1:${await listen(http)}/mcp`;
    cleanups.push(() => (http.closeAllConnections(), http.close()));
    const logger = captureLogger();
    const lines: string[] = [];
    const onMessage = (line: string): void => void lines.push(line);
    const waits: number[] = [];
    const wait = async (ms: number): Promise<void> => {
      waits.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
    };
    const remote = new RemoteServer({ url, headers: {}, logger, onMessage, wait, ...options });
    return { http, remote, logger, lines, waits };
  };
  const hangsOnNotifications: RequestListener = (request, response) => {
    void json(request).then((message) => {
      const { id } = message as { id?: number };
      if (id !== undefined)
        response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ id, result: {} }));
    });
  };

  it('shows no control character of the server, which a terminal would obey', async () => {
    const hostile = createServer((_, response) =>
      response.writeHead(403).end('\u001b[2J\u009b31mAll is well'),
    );
    const url = `http://127.0.0.1:${await listen(hostile)}`;
    const child = spawn(process.execPath, [CLI, 'init', '--agent', 'a', '--url', url], {
      env: NODE_ENVIRONMENT,
    });

    const stderr = await text(child.stderr);

    hostile.close();
    expect(stderr).to.contain('The server answered 403: \\u001b[2J\\u009b31mAll is well');
    // oxlint-disable-next-line no-control-regex -- these are what must not appear
    expect(stderr).not.to.match(/[\u001b\u009b]/);
  });

  it('sends what follows a notification that the server does not accept', async () => {
    const { remote, logger, lines } = await start(hangsOnNotifications, { acceptMs: 100 });
    remote.send(notification);
    remote.send('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');

    await eventually(() => lines.length > 0);
    expect(lines).to.deep.equal(['{"id":1,"result":{}}\n']);
    expect(logger.at('warn')).to.deep.equal(['The MCP server did not take a message']);
    await remote.close();
  });

  it('closes while the server does not accept a notification', async () => {
    const { http, remote } = await start(hangsOnNotifications);
    remote.send(notification);
    remote.send(notification);
    await once(http, 'request');

    await remote.close();
  });

  it('passes an answer of several lines in one, its numbers as they are', async () => {
    const { remote, lines } = await start((_request, response) =>
      response
        .setHeader('Content-Type', 'application/json')
        .end('{\r\n"id":1,\n"result":{"n":9007199254740993}\n}\n'),
    );
    remote.send('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');

    await eventually(() => lines.length > 0);
    expect(lines).to.deep.equal(['{  "id":1, "result":{"n":9007199254740993} }\n']);
    await remote.close();
  });

  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
  const answer = '{"id":1,"result":{}}';
  const stream = (response: ServerResponse, text: string): ServerResponse => (
    response.setHeader('Content-Type', 'text/event-stream').write(text),
    response
  );
  const failures: Record<string, RequestListener> = {
    503: (_request, response) => response.writeHead(503).end(),
    429: (_request, response) => response.writeHead(429).end(),
    'a reset': (request) => request.socket.destroy(),
  };

  /** Breaks each answer after its first event; a reconnect is for `onGet`. */
  const breaksAnswers = (onGet: (gets: number) => RequestListener) => {
    const ids: unknown[] = [];
    const handler: RequestListener = (request, response) => {
      if (request.method === 'GET') onGet(ids.push(request.headers['last-event-id']))(request, response);
      else stream(response, 'id: 1\ndata:\n\n').write('data: broken', () => response.destroy());
    };
    return { ids, handler };
  };

  for (const [name, fail] of Object.entries(failures)) {
    it(`resumes an answer although the first reconnects fail with ${name}`, async () => {
      const answers: RequestListener = (_request, response) => stream(response, `data: ${answer}\n\n`).end();
      const { ids, handler } = breaksAnswers((gets) => (gets < 3 ? fail : answers));
      const { remote, lines } = await start(handler);
      remote.send(ping);

      await eventually(() => lines.length > 0);
      expect(lines).to.deep.equal([`${answer}\n`]);
      expect(ids).to.deep.equal(['1', '1', '1']);
      await remote.close();
    });
  }

  for (const [status, tries] of [
    [503, 5],
    [400, 1],
  ] as const) {
    it(`gives an answer up when ${status} meets reconnect number ${tries}`, async () => {
      const { ids, handler } = breaksAnswers(() => (_request, response) => response.writeHead(status).end());
      const { remote, lines } = await start(handler);
      remote.send(ping);

      await eventually(() => lines.length > 0);
      expect(lines[0]).to.include('-32000');
      expect(ids).to.have.length(tries);
      await remote.close();
    });
  }

  for (const [name, field, retryAfter, expected] of [
    ['nothing', '', undefined, [1_000, 2_000, 4_000]],
    ['retry', 'retry: 3000\n', undefined, [3_000, 3_000, 4_000]],
    ['Retry-After', '', '3', [1_000, 3_000, 4_000]],
    ['both', 'retry: 20\n', '60', [20, 60_000, 60_000]],
    ['a Retry-After that is none', '', 'soon', [1_000, 2_000, 4_000]],
  ] as const)
    it(`delays a reconnect as the server requests, by ${name}`, async () => {
      let gets = 0;
      const { remote, lines, waits } = await start((request, response) => {
        if (request.method !== 'GET') return stream(response, `${field}id: 1\ndata:\n\n`).end();
        if ((gets += 1) > 2) return stream(response, `data: ${answer}\n\n`).end();
        return response.writeHead(503, retryAfter && { 'Retry-After': retryAfter }).end();
      });
      remote.send(ping);

      await eventually(() => lines.length > 0);
      expect(waits).to.deep.equal(expected);
      await remote.close();
    });

  for (const [name, type, text] of [
    ['a stream', 'text/event-stream', 'data: '],
    ['JSON', 'application/json', '"'],
  ] as const)
    it(`gives up an endless answer, as ${name}`, async () => {
      const piece = 'x'.repeat(1024 * 1024);
      const { remote, lines } = await start((_request, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(piece));
          if (!response.destroyed) response.once('drain', more);
        };
        response.setHeader('Content-Type', type).write(text);
        more();
      });
      remote.send(ping);

      await eventually(() => lines.length > 0);
      expect(lines[0]).to.match(/-32000.* more than 67108864 /);
      await remote.close();
    });

  for (const [name, body] of [
    ['nothing', ''],
    ['a notification', notification],
    ['the answer to another request', '{"id":2,"result":{}}'],
  ] as const)
    it(`answers a request with an error if the server answers with ${name}`, async () => {
      const { remote, lines } = await start((_request, response) =>
        response.setHeader('Content-Type', 'application/json').end(body),
      );
      remote.send(ping);

      await eventually(() => lines.some((line) => line.includes('-32000')));
      expect(lines).to.have.length(body === '' ? 1 : 2);
      await remote.close();
    });

  it('passes an answer in a batch, as servers of the first version may send it', async () => {
    const { remote, lines } = await start((_request, response) =>
      response.setHeader('Content-Type', 'application/json').end(`[${notification},${answer}]`),
    );
    remote.send(ping);
    await remote.close();

    expect(lines).to.have.length(1);
  });

  it('does not read while it is paused', async () => {
    let written = 0;
    const event = `data: {"method":"${'x'.repeat(1024 * 1024)}"}\n\n`;
    const { http, remote, lines } = await start((_request, response) => {
      const more = (): void => {
        while (written < 100) {
          written += 1;
          if (!response.write(event)) return void response.once('drain', more);
        }
        response.end(`data: ${answer}\n\n`);
      };
      response.setHeader('Content-Type', 'text/event-stream');
      more();
    });
    remote.pause();
    remote.send(ping);
    await once(http, 'request');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(remote.isPaused()).to.equal(true);
    expect(written).to.be.below(50);
    remote.resume();

    await eventually(() => lines.length === 101);
    await remote.close();
  });

  it('passes no event of another type than message', async () => {
    const events = `event: ping\ndata: 12:00\n\nevent: ping\ndata: {}\n\nevent: message\ndata: ${answer}\n\n`;
    const { remote, lines } = await start((_request, response) => stream(response, events).end());
    remote.send(ping);

    await eventually(() => lines.length > 0);
    expect(lines).to.deep.equal([`${answer}\n`]);
    await remote.close();
  });

  it("opens the server's own stream again after failures, each after its last event", async () => {
    const own = '{"method":"notifications/tools/list_changed"}';
    const ids: unknown[] = [];
    const { remote, lines } = await start((request, response) => {
      if (request.method !== 'GET') return response.writeHead(202).end();
      const fail = Object.values(failures)[ids.push(request.headers['last-event-id']) - 2];
      if (fail) return fail(request, response);
      return stream(response, `id: ${ids.length}\ndata: ${own}\n\n`).end();
    });
    remote.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');

    await eventually(() => lines.length > 1);
    expect(lines.slice(0, 2)).to.deep.equal([`${own}\n`, `${own}\n`]);
    expect(ids.slice(0, 5)).to.deep.equal([undefined, '1', '1', '1', '1']);
    await remote.close();
  });

  it('begins a new session in place of one that the server forgot, and ends one that the client replaces', async () => {
    const seen: unknown[] = [];
    const deleted: unknown[] = [];
    const sessions = new Set<string>();
    let begun = 0;
    const { remote, lines } = await start((request, response) => {
      const { 'mcp-session-id': session = '', 'mcp-protocol-version': version } = request.headers;
      const take = (message: unknown): void => {
        const { id, method } = message as { id?: number | string; method: string };
        seen.push([method, session, version]);
        if (method === 'initialize') {
          sessions.add(`s${(begun += 1)}`);
          response.setHeader('Mcp-Session-Id', `s${begun}`);
          // In the meantime, the client continues.
          if (begun === 3) remote.send('{"jsonrpc":"2.0","id":"meanwhile","method":"ping"}\n');
        } else if (!sessions.has(String(session))) response.statusCode = 404;
        if (id === undefined) return void response.end();
        const result = { protocolVersion: '2025-06-18', method };
        response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ id, result }));
      };
      if (request.method === 'POST') void json(request).then(take);
      else if (request.method === 'DELETE') response.end(deleted.push(session) && '');
      else response.writeHead(405).end();
    });
    const sendAll = async (...methods: string[]): Promise<void> => {
      const before = lines.length;
      for (const method of methods)
        remote.send(`${JSON.stringify({ jsonrpc: '2.0', id: `gatehouse-${method} ${before}`, method })}\n`);
      await eventually(() => lines.length >= before + methods.length);
    };
    await sendAll('initialize');
    await sendAll('ping');
    await sendAll('initialize');
    sessions.clear();
    await sendAll('list', 'call');
    await sendAll('ping');
    await eventually(() => lines.length === 7);

    const [none, version] = ['', '2025-06-18'];
    expect(seen).to.have.deep.members([
      ['initialize', none, undefined],
      ['ping', 's1', version],
      ['initialize', none, undefined],
      ['list', 's2', version],
      ['call', 's2', version],
      ['initialize', none, undefined],
      ['notifications/initialized', 's3', version],
      ['list', 's3', version],
      ['call', 's3', version],
      ['ping', 's3', version],
      ['ping', 's3', version],
    ]);
    const answered = lines.map((line) => JSON.parse(line) as { id: string; result?: object });
    expect(answered.filter(({ result }) => result === undefined)).to.deep.equal([]);
    expect(new Set(answered.map(({ id }) => id))).to.have.property('size', 7);
    await remote.close();
    expect(deleted).to.deep.equal(['s1', 's3']);
  });

  const refusals: [
    what: string,
    status: number,
    headers: Record<string, string>,
    body: string,
    message: string,
  ][] = [
    [
      'the older transport',
      405,
      {},
      'Method Not Allowed',
      'The server answered 405: Method Not Allowed. Is it one of the older transport HTTP+SSE? Only Streamable HTTP is supported',
    ],
    [
      'a redirect',
      307,
      { Location: '/mcp/' },
      '',
      'The server redirects to /mcp/ (307). Redirects are not followed: give the right URL',
    ],
    [
      'a page',
      200,
      { 'Content-Type': 'text/html' },
      '<!DOCTYPE html>',
      'The server did not answer in JSON: <!DOCTYPE html>',
    ],
  ];
  for (const [what, status, headers, body, message] of refusals)
    it(`says what is wrong with an address of ${what}`, async () => {
      const { remote, lines } = await start((_request, response) =>
        response.writeHead(status, headers).end(body),
      );
      remote.send('{"jsonrpc":"2.0","id":0,"method":"initialize"}\n');

      await eventually(() => lines.length === 1);
      expect(JSON.parse(lines[0] ?? '')).to.have.nested.property('error.message', message);
      await remote.close();
    });

  it('answers with the refusal where the server forgets each session at once', async () => {
    const { remote, lines } = await start((request, response) => {
      const take = (message: unknown): void => {
        const { id, method } = message as { id?: number; method: string };
        if (method !== 'initialize') return void response.writeHead(404).end('Session not found');
        response.setHeader('Mcp-Session-Id', 's').setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ id, result: { protocolVersion: '2025-06-18' } }));
      };
      void json(request).then(take, () => response.end());
    });
    remote.send('{"jsonrpc":"2.0","id":0,"method":"initialize"}\n');
    await eventually(() => lines.length === 1);
    remote.send(ping);

    await eventually(() => lines.length === 2);
    expect(lines[1]).to.include('The server answered 404: Session not found');
    await remote.close();
  });
});
