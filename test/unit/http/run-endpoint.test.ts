import { expect } from 'chai';
import express from 'express';
import { createServer } from 'node:http';
import { pino } from 'pino';
import { endpoint } from '../../../server/http/endpoint.ts';
import { mountEndpoints } from '../../../server/http/mount.ts';
import { Type } from '../../../server/type.ts';
import { listen } from '../../support/listen.ts';

describe('a call without a credential', () => {
  it('holds no more of its body than the members that the schema has', async () => {
    let held: unknown;
    const echo = endpoint({
      method: 'POST',
      path: '/v1/echo',
      id: 'echo',
      tag: 'Operations',
      summary: 'Echo',
      description: 'Echo.',
      allow: 'anyone',
      body: { schema: Type.Object({ email: Type.String() }), example: {} },
      answers: { 204: { description: 'Done' } },
      handle: (call) => {
        held = { text: call.text, body: call.body };
        return undefined;
      },
    });
    const app = express();
    const deps = {
      access: () => () => undefined,
      observe: () => undefined,
      logger: pino({ enabled: false }),
    };
    mountEndpoints(app, [echo], deps);
    const server = createServer(app);
    const url = `http://127.0.0.1:${await listen(server)}${echo.path}`;
    const body = JSON.stringify({ email: 'a', more: ['x'] });

    const { status } = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });

    server.closeAllConnections();
    server.close();
    expect([status, held]).to.deep.equal([204, { text: '', body: { email: 'a' } }]);
  });
});
