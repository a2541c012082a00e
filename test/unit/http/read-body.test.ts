import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, request, type ClientRequest, type IncomingMessage, type Server } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { BoundedQueue } from '../../../server/bounded-queue.ts';
import { problemFrom } from '../../../server/http/error-handler.ts';
import { type ArrivingBytes, readBody } from '../../../server/http/read-body.ts';
import { readItems } from '../../../server/http/read-items.ts';
import { listen } from '../../support/listen.ts';

const ARRIVING_MAX = 100_000;
const PLAIN_MAX = 80_000;

/** Bodies of which one is inflated or, if it is large, parsed at a time, and one may wait for it. */
function arrivingOf(max: number, plainBytesMax = max): ArrivingBytes {
  const heavy = new BoundedQueue({ runningMax: 1, waitingMax: 1, waitMsMax: 10_000 });
  return { count: 0, max, plainBytesMax, turnsMsMax: 10_000, heavy, large: heavy };
}

const lengthOf = (body: string) => String(body.length);

describe('bodies that are still arriving', () => {
  const arriving = arrivingOf(ARRIVING_MAX, PLAIN_MAX);
  let server: Server;
  let port: number;
  before(async () => {
    server = createServer((req, res) => {
      readBody(req, { arriving, parse: lengthOf }).then(
        (length) => res.end(length),
        (error: unknown) => res.end(problemFrom(error).code),
      );
    });
    port = await listen(server);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  function begin(body: string | Buffer, more: Record<string, string | number> = {}): ClientRequest {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': ARRIVING_MAX, ...more };
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

  it('no longer count when their caller is gone', async () => {
    const gone = begin('x'.repeat(50_000));
    await until(() => arriving.count === 50_000);

    gone.destroy();

    await until(() => arriving.count === 0);
  });

  const large = 'x'.repeat(PLAIN_MAX + 1);
  for (const [what, body, encoding] of [
    ['inflated', zstdCompressSync(large), 'zstd'],
    ['parsed, if they are large,', Buffer.from(large), 'identity'],
  ] as const)
    it(`are ${what} a few at once: the others wait and count, and beyond their bound they are refused as overloaded`, async () => {
      const send = () => begin(body, { 'Content-Encoding': encoding, 'Content-Length': body.length });
      const { promise: other, resolve: endOther } = Promise.withResolvers<void>();
      const running = arriving.heavy.run(() => other);

      const answer = answerOf(send());
      await until(() => arriving.count === body.length);
      expect(await answerOf(send())).to.equal('overloaded');
      const small = begin('x', { 'Content-Length': 1 });
      expect(await answerOf(small)).to.equal('1');
      endOther();

      expect(await answer).to.equal(String(large.length));
      expect(arriving.count).to.equal(0);
      await running;
    });

  /** Reads all these bodies at once, one large one in a turn, and resolves with the turns that `read` noted. */
  async function turnsOf(
    bodies: (string | Buffer)[],
    {
      type,
      read,
    }: {
      type: string;
      read: (req: IncomingMessage, known: ArrivingBytes, note: () => void) => Promise<unknown>;
    },
  ): Promise<number[]> {
    const queue = (runningMax: number) => new BoundedQueue({ runningMax, waitingMax: 10, waitMsMax: 10_000 });
    const bounds = { max: ARRIVING_MAX, plainBytesMax: 1, turnsMsMax: 10_000 };
    const known = { count: 0, ...bounds, heavy: queue(10), large: queue(1) };
    let [turn, isOver] = [0, false];
    const count = () => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const turns: number[] = [];
    const reading = bodies.map((body) => {
      const encoding = typeof body === 'string' ? 'identity' : 'gzip';
      const headers = { 'content-type': type, 'content-encoding': encoding };
      const req = Object.assign(new PassThrough(), { headers, socket: { destroyed: false } });
      const done = read(req as unknown as IncomingMessage, known, () => turns.push(turn));
      req.end(body);
      return done;
    });
    await Promise.all(reading).finally(() => (isOver = true));
    expect(known.count).to.equal(0);
    return turns;
  }

  it('are parsed one in a turn of the event loop, if they are large', async () => {
    const turns = await turnsOf(['{}', '{}', '{}', gzipSync('{}')], {
      type: 'application/json',
      read: (req, arriving, note) => readBody(req, { arriving, parse: note }),
    });

    expect([turns.length, new Set(turns).size]).to.deep.equal([4, 4]);
  });

  it('have their large items parsed one in a turn of the event loop, in their order', async () => {
    const items: unknown[] = [];

    const turns = await turnsOf(['{"a":1}\n2\n{"a":3}', '{"b":1}'], {
      type: 'application/x-ndjson',
      read: (req, arriving, note) =>
        readItems(req, {
          arriving,
          onItem: ({ value }) => {
            items.push(value);
            if (typeof value === 'object') note();
          },
        }),
    });

    expect([turns.length, new Set(turns).size]).to.deep.equal([3, 3]);
    expect(items.filter((item) => JSON.stringify(item) !== '{"b":1}')).to.deep.equal([{ a: 1 }, 2, { a: 3 }]);
  });

  const bodyFrom = (req: IncomingMessage, arriving: ArrivingBytes) =>
    readBody(req, { arriving, parse: lengthOf });
  const itemsFrom = (req: IncomingMessage, arriving: ArrivingBytes) =>
    readItems(req, { arriving, onItem: () => undefined });
  for (const [what, busy, read] of [
    ['to be inflated', 'heavy', bodyFrom],
    ['to be parsed, once it is inflated', 'large', bodyFrom],
    ['to have large items parsed', 'large', itemsFrom],
  ] as const)
    it(`wait ${what} no longer than for all turns together`, async () => {
      const queue = () => new BoundedQueue({ runningMax: 1, waitingMax: 1, waitMsMax: 3_600_000 });
      const bounds = { max: ARRIVING_MAX, plainBytesMax: 1, turnsMsMax: 100 };
      const known = { count: 0, ...bounds, heavy: queue(), large: queue() };
      const { promise: other, resolve: endOther } = Promise.withResolvers<void>();
      const running = known[busy].run(() => other);
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const whole = { headers, complete: true, socket: { destroyed: false } };
      const req = Object.assign(new PassThrough(), whole);
      req.end(gzipSync('[{}]'));

      const reading: Promise<unknown> = read(req as unknown as IncomingMessage, known);

      expect(problemFrom(await reading.catch((error: unknown) => error)).code).to.equal('overloaded');
      expect(known.count).to.equal(0);
      endOther();
      await running;
    });

  it('are not inflated when their caller is gone', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const req = Object.assign(new PassThrough(), { headers, socket: { destroyed: true } });
    const reading = readBody(req as unknown as IncomingMessage, { arriving, parse: lengthOf });
    req.end(gzipSync('{}'));

    const error: unknown = await reading.catch((reason: unknown) => reason);
    expect(String(error)).to.include('The connection closed before the body ended');
  });

  it('take little more memory than their bytes, however small the pieces are', async () => {
    const bytes = 100_000;
    const slab = Buffer.alloc(bytes, 'x');
    const known = arrivingOf(2 * bytes);
    const readers: Record<string, (req: IncomingMessage) => Promise<unknown>> = {
      'application/json': (req) => readBody(req, { arriving: known, parse: lengthOf }),
      'application/x-ndjson': (req) => readItems(req, { arriving: known, onItem: () => undefined }),
    };
    for (const [type, read] of Object.entries(readers)) {
      const req = Object.assign(new PassThrough(), { headers: { 'content-type': type } });
      const before = heldBytes();
      const reading = read(req as unknown as IncomingMessage);
      for (let at = 0; at < bytes; at += 1) req.emit('data', slab.subarray(at, at + 1));

      expect(heldBytes() - before, type).to.be.below(20 * bytes);
      req.end();
      await reading;
    }
  });
});

describe('a body in pieces of one byte', () => {
  const PIECES = 200_000;
  const chunked = Buffer.from('1\r\nx\r\n'.repeat(PIECES));

  /** The event loop's turns while a server takes in the whole body: no turn may take in much of it. */
  async function turnsToTakeIn(arrivingMax: number): Promise<{ turns: number; answer: string }> {
    const arriving = arrivingOf(arrivingMax);
    let [turns, isOver] = [0, false];
    const server = createServer((req, res) => {
      const count = () => {
        turns += 1;
        if (!isOver) setImmediate(count);
      };
      count();
      const answer = readBody(req, { arriving, parse: lengthOf }).catch(
        (error: unknown) => problemFrom(error).code,
      );
      req.once('end', () => {
        isOver = true;
        void answer.then((text) => res.end(text));
      });
    });
    const port = await listen(server);
    const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
    const call = request({ host: '127.0.0.1', port, method: 'POST', headers });
    await once(call, 'socket');
    call.flushHeaders();
    call.socket?.write(Buffer.concat([chunked, Buffer.from('0\r\n\r\n')]));
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    const answer = await text(response);
    call.destroy();
    server.closeAllConnections();
    server.close();
    return { turns, answer };
  }

  it('is taken in over many turns of the event loop', async () => {
    const { turns, answer } = await turnsToTakeIn(2 * PIECES);

    expect(answer).to.equal(String(PIECES));
    expect(turns).to.be.at.least(PIECES / 1000);
  });

  it('is discarded over many turns of the event loop, when it is refused', async () => {
    const { turns, answer } = await turnsToTakeIn(10);

    expect(answer).to.equal('overloaded');
    expect(turns).to.be.at.least(PIECES / 1000);
  });
});

/** Memory that is in use, without garbage. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
