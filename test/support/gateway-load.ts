import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { DECISION_BATCH, startAuditServer } from './emission.ts';
import { NODE_ENVIRONMENT } from './environment.ts';
import { eventually } from './eventually.ts';
import type { MockServer } from './mock-server.ts';
import { temporaryFile } from './temporary-file.ts';

export type Victim = 'server' | 'client' | 'gateway';

/** The results of a load: from the server, the audit service, and the client. */
export type LoadResult = {
  /** The calls that the server ran, as `search 12`. */
  ran: string[];
  /** The recorded calls with their outcomes, as `search 12 allow`. */
  recorded: string[];
  /** The numbers of the recorded events, ascending, each once. */
  sequence: number[];
  /** The gateway's own counts of its events, at its end. */
  closed: { emitted: number; dropped: number; failed: number } | undefined;
  client: { answered: number; wrong?: string[]; problem?: string; p50?: number; p99?: number };
};

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const POLICY = 'version: 1\ntools: [search, write]\nroles: { "*": { allow: [search] } }\nrules: []\n';

type LoadOptions = {
  calls: number;
  atOnce?: number;
  isGoverned?: boolean;
  victim?: Victim;
  killAfter?: number;
};

/**
 * Makes calls through the gateway, and kills one of the three processes with SIGKILL after a number of answers. A gateway that was killed
 * is started once more.
 */
export async function loadGateway(options: LoadOptions): Promise<LoadResult> {
  const mock = await startAuditServer();
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-load-'));
  const log = join(folder, 'ran');
  try {
    const stateDir = join(folder, 'state');
    const client = await runClient(options, { mock, log, stateDir });
    if (options.victim === 'gateway') await runClient({ calls: 0 }, { mock, log: `${log}-again`, stateDir });
    const ran = (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '');
    return { ran, client, ...recordedBy(mock) };
  } finally {
    await mock.close();
    await rm(folder, { recursive: true });
  }
}

async function runClient(
  { calls, atOnce = 10, isGoverned = true, victim, killAfter = calls / 4 }: LoadOptions,
  { mock, log, stateDir }: { mock: MockServer; log: string; stateDir: string },
): Promise<LoadResult['client']> {
  const policy = await temporaryFile('policy.yaml', POLICY);
  const gateway = [pathOf('../../client/cli.ts'), 'mcp', '--agent', 'load', '--local-policy', policy];
  const server = [process.execPath, pathOf('mcp-load-server.ts'), log];
  const command = isGoverned ? [process.execPath, ...gateway, '--', ...server] : server;
  const child = spawn(
    process.execPath,
    [pathOf('mcp-load-client.ts'), String(calls), String(atOnce), ...command],
    {
      env: {
        ...NODE_ENVIRONMENT,
        GATE_API_KEY: 'k',
        GATE_BASE_URL: mock.url,
        GATE_STATE_DIR: stateDir,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const ended = once(child, 'close');
  let last: LoadResult['client'] = { answered: 0 };
  let gatewayPid = 0;
  let isKilled = victim === undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const report = JSON.parse(line) as LoadResult['client'] & { pid?: number };
    if (report.pid !== undefined) gatewayPid = report.pid;
    else last = report;
    if (isKilled || last.answered < killAfter) continue;
    isKilled = true;
    const serverPid = Number(await readFile(`${log}.pid`, 'utf8'));
    process.kill(
      { server: serverPid, client: child.pid ?? 0, gateway: gatewayPid }[victim ?? 'client'],
      'SIGKILL',
    );
  }
  await ended;
  // The client may have ended first.
  for (const pid of [gatewayPid, Number(await readFile(`${log}.pid`, 'utf8'))])
    await eventually(() => !isAlive(pid));
  return last;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function recordedBy(mock: MockServer): Pick<LoadResult, 'recorded' | 'sequence' | 'closed'> {
  // A sender that is killed may leave half a request, which no service stores.
  const batches = mock
    .seen(DECISION_BATCH)
    .filter(({ text, headers }) => Buffer.byteLength(text) === Number(headers['content-length']));
  const recorded = batches.flatMap(({ text }) => text.trim().split('\n').map(callFrom));
  const sequence = batches.flatMap(({ headers }) =>
    String(headers['gate-sequence']).split(',').flatMap(numbersOf),
  );
  const close = mock.requests.find(({ path }) => path.endsWith('/close'));
  const closed = close && (JSON.parse(close.text) as LoadResult['closed']);
  return { recorded, sequence: [...new Set(sequence)].toSorted((a, b) => a - b), closed };
}

function callFrom(event: string): string {
  const { tool_name, arguments: args, outcome } = JSON.parse(event) as Record<string, unknown>;
  return `${String(tool_name)} ${(args as { n: number }).n} ${String(outcome)}`;
}

/** The numbers of a range, as `5-60` or `7`. */
function numbersOf(range: string): number[] {
  const [first = 0, last = first] = range.split('-').map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
