// A small server that speaks ClickHouse's HTTP interface as @clickhouse/client uses it, on top of the embedded engine. A separate process,
// so that a test can stop, freeze, slow and kill it. node process.ts <data directory> <port> <user> <password>; faults arrive as messages
// from the parent.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, answerFault, answerTo, keepTelling, send, sendHalf } from './answer.ts';
import { AsyncInserts } from './async-inserts.ts';
import { Engine } from './engine.ts';
import { EngineError, errorNamed, type Fault, Faults } from './faults.ts';
import { readRequest, type Request } from './wire.ts';

const [path = '', port = '0', user = 'default', password = ''] = process.argv.slice(2);
/** Requests of the tests themselves are not affected by faults. */
const BYPASS_HEADER = 'x-test-bypass';

mkdirSync(path, { recursive: true });
const engine = new AsyncInserts(new Engine(path));
const faults = new Faults();

async function carryOut(request: Request): Promise<Answer> {
  const startMs = performance.now();
  try {
    return answerTo(request, await engine.run(request.statement), performance.now() - startMs);
  } catch (error) {
    return answerFault(error as EngineError);
  }
}

async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.url === '/ping') return send(res, { status: 200, headers: {}, body: Buffer.from('Ok.\n') });
  let request: Request;
  try {
    request = await readRequest(req, { user, password });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return send(res, answerFault(error));
  }
  const fault = req.headers[BYPASS_HEADER] === undefined ? faults.take(request.statement.text) : undefined;
  if (fault !== undefined) return misbehave(fault, { request, res });
  await answer(request, res);
}

async function answer(request: Request, res: ServerResponse): Promise<void> {
  const { progressEveryMs } = request;
  const finish =
    progressEveryMs === undefined ? (done: Answer) => send(res, done) : keepTelling(res, progressEveryMs);
  finish(await carryOut(request));
}

async function misbehave(
  fault: Fault,
  { request, res }: { request: Request; res: ServerResponse },
): Promise<void> {
  const nothing = { bytes: Buffer.alloc(0), readRows: 0, readBytes: 0 };
  switch (fault.does) {
    case 'fail':
      return send(res, answerFault(errorNamed(fault.with)));
    case 'wait':
      await sleep(fault.ms);
      return answer(request, res);
    case 'nothing':
      return send(res, answerTo(request, nothing, 0));
    case 'page':
      return send(res, { status: 200, headers: {}, body: Buffer.alloc(0) });
    case 'hang up':
      if (fault.when === 'after') await carryOut(request);
      res.socket?.destroy();
      return;
    case 'half a body':
      return sendHalf(res, fault.when === 'after' ? await carryOut(request) : answerTo(request, nothing, 0));
  }
}

const server = createServer({ maxHeaderSize: 2 * 1024 * 1024, keepAliveTimeout: 10_000 }, (req, res) => {
  // A caller that disconnects is not a fault of the server.
  serve(req, res).catch(() => res.socket?.destroy());
});

process.on('message', ({ id, set }: { id: number; set: Fault[] }) => {
  faults.set(set);
  process.send?.({ id });
});
process.on('disconnect', () => process.exit(0));
server.listen(Number(port), '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
