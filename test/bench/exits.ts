import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '../support/listen.ts';
import { makeCertificate, type Certificate } from '../support/certificates.ts';

const EVENTS = 50;
const CLIENT = new URL('../../client/dist/index.js', import.meta.url).href;

const ENDS = {
  'the program ends': '',
  'process.exit()': 'process.exit(0);',
  'an uncaught error': "throw new Error('of the program');",
  'await shutdown()': 'await shutdown();',
};

const programOf = (batch: boolean, end: string): string => `
import { configure, shutdown } from '${CLIENT}';
import { listen, listen, listen } from '../support/listen.ts';
const gate = configure({ apiKey: 'k', batch: ${String(batch)} });
for (let n = 0; n < ${EVENTS}; n += 1) {
  // An agent waits for its tools: no more than 32 events are in flight, and ten when it ends.
  if (n % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  gate.emit({ agent_name: 'a', tool_name: 't', outcome: 'allow', arguments: { n } });
}
${end}
`;

type Scheme = 'http' | 'https';

/** One program of one runtime. */
type Case = { runtime: string; command: string[]; scheme: Scheme; batch: boolean; end: string };

/** How many of 50 events arrive, and how many are reported as lost, for each way a program may end. Runtimes: `name=command,…`. */
export async function benchExits({ runtimes }: { runtimes: string }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-exits-'));
  const commands = runtimes.split(',').map((text) => text.split('='));
  try {
    for (const [runtime = '', command = ''] of commands)
      for (const scheme of ['http', 'https'] as const)
        for (const batch of [false, true]) {
          const cells: string[] = [];
          for (const [name, end] of Object.entries(ENDS))
            cells.push(
              `${name}: ${await arrived(folder, { runtime, command: command.split(' '), scheme, batch, end })}`,
            );
          console.log(`${runtime} ${scheme} ${batch ? 'batch' : 'single'} | ${cells.join(' | ')}`);
        }
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function arrived(folder: string, { command, scheme, batch, end }: Case): Promise<string> {
  const program = join(folder, 'program.mjs');
  const authority = join(folder, 'certificate.pem');
  const certificate = await makeCertificate();
  await writeFile(authority, certificate.cert);
  await writeFile(program, programOf(batch, end));
  const server = await startServer(scheme, certificate);
  const [path = '', ...args] = command;
  const child = spawn(path, [...args, program], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      GATE_BASE_URL: `${scheme}://localhost:${server.port}`,
      NODE_EXTRA_CA_CERTS: authority,
      DENO_CERT: authority,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
  await once(child, 'close');
  await server.close();
  const lost = /lost"?: (\d+)/.exec(errors)?.[1] ?? '0';
  return `${server.events()} arrived, ${lost} told as lost`;
}

async function startServer(scheme: Scheme, certificate: Certificate) {
  let events = 0;
  const listener: RequestListener = (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const isEvents = request.url?.startsWith('/v1/audit/decisions') === true;
      const count = isEvents ? text.split('\n').filter((line) => line !== '').length : 0;
      events += count;
      response.writeHead(202, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ accepted: count, duplicates: 0, rejected: [] }));
    });
  };
  const server = scheme === 'http' ? createHttpServer(listener) : createHttpsServer(certificate, listener);
  return {
    port: await listen(server),
    events: () => events,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
