import { expect } from 'chai';
import express from 'express';
import { once } from 'node:events';
import { connect } from 'node:net';
import { listen } from '../../../server/http/listen.ts';

const BLOCKED_MS = 500;

describe('the stop of a server', () => {
  it('answers a request that arrived while its process did not run', async () => {
    const app = express().get('/', (_req, res) => void res.send('answer'));
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    const socket = connect(server.port, '127.0.0.1');
    const answer = async () => {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      const [first] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
      return String(first).split('\r\n')[0];
    };
    await answer();

    const stopped = server.stop();
    // By then the server waits for requests on the connections that it has.
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    const last = answer();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS);

    expect(await last).to.equal('HTTP/1.1 200 OK');
    await stopped;
  });

  it('cuts answers that nobody reads while other requests still have time', async () => {
    const cut = Promise.withResolvers<void>();
    const app = express()
      .get('/unread', (_req, res) => void res.on('close', cut.resolve).write('begin'))
      .get('/late', (_req, res) => void cut.promise.then(() => res.send('answer')));
    const server = await listen(app, { host: '127.0.0.1', port: 0 });
    const get = async (path: string) => {
      const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const [first] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
      return String(first).split('\r\n')[0];
    };
    await get('/unread');
    const late = get('/late');

    await server.stop();

    expect(await late).to.equal('HTTP/1.1 200 OK');
  });
});
