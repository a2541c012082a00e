import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listen } from '../support/listen.ts';
import { makeCertificate, type Certificate } from '../support/certificates.ts';

const PROGRAM = fileURLToPath(new URL('exits-program.js', import.meta.url));

/** How a program ends, with its exit code. */
const ENDS = {
  'the program ends': 0,
  'process.exit()': 0,
  'an uncaught error': 1,
  'await shutdown()': 0,
};

type Scheme = 'http' | 'https';

/** One program of one runtime. */
type Case = { command: string[]; scheme: Scheme; batch: boolean; end: keyof typeof ENDS };

/** How many of 50 events arrive, and how many are reported as lost, for each way a program may end. Runtimes: `name=command,…`. */
export async function benchExits({ runtimes }: { runtimes: string }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-exits-'));
  const commands = runtimes.split(',').map((text) => text.split('='));
  try {
    for (const [runtime = '', command = ''] of commands)
      for (const scheme of ['http', 'https'] as const)
        for (const batch of [false, true]) {
          const cells: string[] = [];
          for (const end of Object.keys(ENDS) as (keyof typeof ENDS)[])
            cells.push(
              `${end}: ${await arrived(folder, { command: command.split(' '), scheme, batch, end })}`,
            );
          console.log(`${runtime} ${scheme} ${batch ? 'batch' : 'single'} | ${cells.join(' | ')}`);
        }
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function arrived(folder: string, { command, scheme, batch, end }: Case): Promise<string> {
  const authority = join(folder, 'certificate.pem');
  const certificate = await makeCertificate();
  await writeFile(authority, certificate.cert);
  const server = await startServer(scheme, certificate);
  const [path = '', ...args] = command;
  const child = spawn(path, [...args, PROGRAM, String(batch), end], {
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
  const [code] = (await once(child, 'close')) as [number | null];
  await server.close();
  if (code !== ENDS[end]) throw new Error(`${path} ended with ${code}: ${errors}`);
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
