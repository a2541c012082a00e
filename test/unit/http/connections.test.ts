import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { ConnectionTable } from '../../../server/http/connections.ts';
import { PIPELINED_MAX } from '../../../server/limits.ts';

const CONNECTIONS_MAX = 4;
const UNREAD_MS_MAX = 100;
/** More than the buffers of two sockets hold. */
const LARGE_BYTES = 20_000_000;
const [ONE, TWO, THREE] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];

describe('the connections of a server', () => {
  let server: Server;
  let opened: Socket[];
  let begun: string[];
  beforeEach(async () => {
    [opened, begun] = [[], []];
    server = createServer((req, res) => {
      table.track(res, () => {
        begun.push(req.url ?? '');
        if (req.url === '/') res.end('answer');
        if (req.url === '/large') res.end(Buffer.alloc(LARGE_BYTES));
        if (req.url?.startsWith('/later')) setImmediate(() => res.end(`${req.url}\n`));
      });
    });
    const bounds = { max: CONNECTIONS_MAX, unreadMsMax: UNREAD_MS_MAX, unreadBytesMax: 3 * LARGE_BYTES };
    const table = new ConnectionTable(server, bounds);
    await once(server.listen(0, ONE), 'listening');
  });
  afterEach(() => {
    for (const socket of opened) socket.destroy();
    server.close();
  });

  /** Resolves once the server has accepted the connection. */
  async function open(localAddress = ONE): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const accepted = once(server, 'connection');
    const socket = connect({ host: ONE, port, localAddress: localAddress ?? '' });
    opened.push(socket);
    await accepted;
    return socket;
  }

  async function isAnswered(socket: Socket): Promise<boolean> {
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [first] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
    return first instanceof Buffer;
  }

  it('of one address are bounded below all: its oldest that was never answered goes', async () => {
    const answered = await open(ONE);
    expect(await isAnswered(answered)).to.equal(true);
    const [silent, other] = [await open(ONE), await open(ONE)];

    const late = await open(ONE);

    await once(silent, 'close');
    const alive = [answered, other, late, await open(TWO)].map(isAnswered);
    expect(await Promise.all(alive)).to.deep.equal([true, true, true, true]);
  });

  for (const [what, network, isClosed] of [
    ['of one /64 of IPv6 count as those of one address', '2001:db8:0:0', true],
    ['of another /64 do not', '2001:db8:0:1', false],
  ] as const) {
    it(what, () => {
      const bare = new EventEmitter();
      new ConnectionTable(bare as Server, { max: CONNECTIONS_MAX });
      const addresses = ['2001:db8::1', '2001:db8::2', '2001:db8::3', `${network}::4`];
      const sockets = addresses.map((value) =>
        Object.defineProperty(new Socket(), 'remoteAddress', { value }),
      );
      for (const socket of sockets) bare.emit('connection', socket);
      bare.emit('close');

      expect(sockets.map(({ destroyed }) => destroyed)).to.deep.equal([isClosed, false, false, false]);
    });
  }

  it('make room for a new one: the oldest that was never answered goes', async () => {
    const answered = await open(ONE);
    expect(await isAnswered(answered)).to.equal(true);
    const [silent, ...others] = [await open(ONE), await open(TWO), await open(TWO)];

    const late = await open(THREE);

    await once(silent, 'close');
    const alive = [answered, ...others, late].map(isAnswered);
    expect(await Promise.all(alive)).to.deep.equal([true, true, true, true]);
  });

  it('make room for a new one: otherwise the oldest idle one goes, but none that waits for its answer', async () => {
    const busy = await open(ONE);
    busy.write('GET /busy HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(server, 'request');
    const idle = [await open(ONE), await open(TWO), await open(TWO)];
    for (const socket of idle) await isAnswered(socket);

    const late = await open(THREE);

    await once(idle[0] ?? busy, 'close');
    expect([await isAnswered(late), busy.destroyed]).to.deep.equal([true, false]);
  });

  it('are closed when a caller stops reading its answer', async () => {
    const [reader, idler] = [await open(ONE), await open(TWO)];
    const closed = once(server, 'connection').then(([socket]) => once(socket as Socket, 'close'));
    const sleeper = await open(TWO);
    for (const socket of [reader, sleeper.pause()]) socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    let bytes = 0;
    reader.on('data', (chunk: Buffer) => (bytes += chunk.length));

    await closed;

    expect([bytes > LARGE_BYTES, await isAnswered(idler)]).to.deep.equal([true, true]);
  });

  it('are closed when too many bytes wait after an answer, the largest first', async () => {
    const [modest, greedy] = [await open(ONE), await open(TWO)];
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    modest.write(request('/busy') + request('/large'));
    greedy.write(request('/busy') + request('/large').repeat(3));

    await once(greedy, 'close');

    expect(modest.destroyed).to.equal(false);
  });

  it('have few of their requests begun at once, and all of them answered in order', async () => {
    const socket = await open(ONE);
    const paths = Array.from({ length: 200 }, (_, index) => `/later${index}`);
    const received = (async () => {
      let text = '';
      for await (const chunk of socket.setEncoding('utf8')) {
        text += String(chunk);
        if (text.includes(`${paths.at(-1)}\n`)) return text.match(/\/later\d+/g);
      }
      return undefined;
    })();
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
    await once(server, 'request');

    expect(begun.length).to.be.within(1, PIPELINED_MAX);
    expect([await received, begun]).to.deep.equal([paths, paths]);
  });

  it('keep nothing of requests that were answered before they had arrived', async () => {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const socket = await open();
    const [connection] = await accepted;
    const before = connection.listenerCount('close');

    for (let request = 0; request < 20; request += 1) {
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n');
      await once(socket, 'data');
      socket.write('late');
    }
    expect(await isAnswered(socket)).to.equal(true);

    expect(connection.listenerCount('close')).to.equal(before);
  });

  it('have no request begun once they are closed', async () => {
    const socket = await open(ONE);
    socket.write('GET /busy HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(PIPELINED_MAX + 1));
    const [{ socket: accepted }] = (await once(server, 'request')) as [IncomingMessage];
    socket.destroy();
    await once(accepted, 'close');
    await new Promise(setImmediate);

    expect(begun.length).to.equal(PIPELINED_MAX);
  });
});
