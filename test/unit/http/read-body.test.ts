import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, request, type ClientRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { problemFrom } from '../../../server/http/error-handler.ts';
import { readBody } from '../../../server/http/read-body.ts';

const ARRIVING_MAX = 100_000;

describe('bodies that are still arriving', () => {
  const arriving = { count: 0, max: ARRIVING_MAX };
  let server: Server;
  before(async () => {
    server = createServer((req, res) => {
      readBody(req, arriving).then(
        (body) => res.end(String(body.length)),
        (error: unknown) => res.end(problemFrom(error).code),
      );
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  function begin(body: string): ClientRequest {
    const { port } = server.address() as AddressInfo;
    const headers = { 'Content-Type': 'application/json', 'Content-Length': ARRIVING_MAX };
    const call = request({ host: '127.0.0.1', port, method: 'POST', headers });
    call.on('error', () => undefined).write(body);
    return call;
  }

  async function answerOf(call: ClientRequest): Promise<string> {
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    return text(response);
  }

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
  }

  it('are bounded in bytes together: beyond the bound a body is refused as overloaded', async () => {
    const slow = begin('x'.repeat(60_000));
    await until(() => arriving.count === 60_000);

    const refused = begin('x'.repeat(60_000));
    expect(await answerOf(refused)).to.equal('overloaded');
    refused.destroy();

    slow.end('x'.repeat(40_000));
    expect(await answerOf(slow)).to.equal(String(ARRIVING_MAX));
    expect(arriving.count).to.equal(0);
  });

  it('count no longer when their caller is gone', async () => {
    const gone = begin('x'.repeat(50_000));
    await until(() => arriving.count === 50_000);

    gone.destroy();

    await until(() => arriving.count === 0);
  });
});
