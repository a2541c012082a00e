// A real syslog-ng, configured as docs/collectors.md says, carries a file of events to a running service, while both are
// killed, the service is overloaded and the file is rotated. Needs Debian's syslog-ng-core and syslog-ng-mod-http.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { certificateFiles, makeCertificate } from '../support/certificates.ts';
import { decisionEvent } from '../support/events.ts';
import { freePort } from '../support/listen.ts';
import { ingestResult, readMetrics } from '../support/metrics.ts';
import {
  ROOT,
  startTestService,
  storeDirectory,
  temporaryDirectory,
  type TestService,
} from '../support/service.ts';

const EVENTS_PER_TICK = 40;
const TICK_MS = 20;
const WAIT_MS_MAX = 60_000;
const AGENT = 'file-bot';
/** The collector's log, for a failed check. */
const LOG_CHARACTERS = 4_000;

if (spawnSync('syslog-ng', ['--version']).status !== 0) {
  console.error('syslog-ng is needed. On Debian: sudo apt-get install syslog-ng-core syslog-ng-mod-http');
  process.exit(1);
}

// The processes alone do not keep this one alive until they end.
const awake = setInterval(() => undefined, 1_000);
const directory = temporaryDirectory();
const events = join(directory, 'events');
mkdirSync(events);
let file = join(events, '1.ndjson');
const [dataDir, port, certificate] = await Promise.all([storeDirectory(), freePort(), makeCertificate()]);
const tls = certificateFiles(certificate);
setDefaultCACertificates([...getCACertificates(), certificate.cert]);
const written = new Set<string>();
let service = await startService();
writeFileSync(join(directory, 'syslog-ng.conf'), configFrom(service));
let collector = startCollector();
const writing = setInterval(write, TICK_MS);
try {
  await carry();
} catch (error) {
  console.error(readFileSync(join(directory, 'log'), 'utf8').slice(-LOG_CHARACTERS));
  throw error;
} finally {
  clearInterval(writing);
  await Promise.all([killCollector(), service.kill()]);
  clearInterval(awake);
}
process.exit(0);

async function carry(): Promise<void> {
  await during('Both run', 2_000);

  await Promise.all([killCollector(), service.kill()]);
  await during('kill -9 of both', 1_000);
  file = join(events, '2.ndjson');
  await during('A new file, which the collector does not see yet', 1_000);
  service = await startService();
  collector = startCollector();
  await during('Both run again', 2_000);

  await killCollector();
  collector = startCollector();
  await during('kill -9 of the collector', 2_000);

  await service.kill();
  await during('kill -9 of the service', 3_000);
  service = await startService({ GATE_BATCH_ROWS_MAX: '500', GATE_QUEUE_ROWS_MAX: '600' });
  await during('The service comes back and takes little', 4_000);
  const overloaded = (await readMetrics(service)).value(ingestResult('overloaded'));
  if (overloaded === 0) throw new Error('The service was never overloaded');
  console.log(`The answer was 503 for ${overloaded} events`);

  file = join(events, '3.ndjson');
  renameSync(join(events, '1.ndjson'), join(events, 'renamed.ndjson'));
  await during('A new file, and an old one with another name', 2_000);
  clearInterval(writing);
  await allStored();
  const twice = (await readMetrics(service)).value(ingestResult('duplicate'));
  if (twice === 0) throw new Error('The file with another name was not read again, as the recipe says');
  console.log(`${twice} of them came twice since the service was started last`);
}

/** The recipe for this service and these files. */
function configFrom({ url, key }: TestService): string {
  const text = readFileSync(join(ROOT, 'docs/collectors.md'), 'utf8');
  const recipe = /```syslog-ng\n(.*?)```/s.exec(text)?.[1] ?? '';
  const here = {
    '/var/log/agents': events,
    'https://gate.example.com': url,
    YOUR_API_KEY: key,
    '/etc/ssl/certs/ca-certificates.crt': tls.files.cert,
  };
  return Object.entries(here).reduce((config, [example, value]) => {
    if (!config.includes(example)) throw new Error(`The recipe does not name ${example}`);
    return config.replace(example, value);
  }, `@version: 3.38\n${recipe}`);
}

/** Adds events. The last line arrives in two parts, as it may from a program that writes through a buffer. */
function write(): void {
  const events = Array.from({ length: EVENTS_PER_TICK }, () => decisionEvent({ agent_name: AGENT }));
  const text = events.map((event) => `${JSON.stringify(event)}\n`).join('');
  const path = file;
  appendFileSync(path, text.slice(0, -50));
  setImmediate(() => appendFileSync(path, text.slice(-50)));
  for (const { event_id } of events) written.add(String(event_id));
}

function startService(env: Record<string, string> = {}): Promise<TestService> {
  return startTestService({
    dataDir,
    env: { ...tls.env, GATE_DASHBOARD_URL: 'https://localhost', GATE_PORT: String(port), ...env },
  });
}

function startCollector(): ChildProcess {
  const path = (name: string) => join(directory, name);
  const files = ['-f', path('syslog-ng.conf'), '-R', path('persist'), '-c', path('ctl'), '-p', path('pid')];
  const log = openSync(path('log'), 'a');
  const stdio = ['ignore', log, log] as const;
  return spawn('syslog-ng', ['--foreground', '--no-caps', '--stderr', ...files], { stdio: [...stdio] });
}

async function killCollector(): Promise<void> {
  if (collector.exitCode !== null || collector.signalCode !== null) return;
  const exited = once(collector, 'exit');
  collector.kill('SIGKILL');
  await exited;
}

async function during(what: string, ms: number): Promise<void> {
  await sleep(ms);
  const stored = await storedIds().catch(() => undefined);
  console.log(`${what}: ${written.size} written, ${stored?.length ?? 'unknown'} stored`);
}

async function allStored(): Promise<void> {
  let ids: string[] = [];
  for (
    const endMs = Date.now() + WAIT_MS_MAX;
    Date.now() < endMs && ids.length < written.size;
    await sleep(500)
  )
    ids = await storedIds();
  const stored = new Set(ids);
  const missing = [...written].filter((id) => !stored.has(id)).length;
  console.log(`${written.size} events were written; ${ids.length} are stored, ${missing} are missing.`);
  if (missing > 0 || ids.length !== written.size) throw new Error('Not every event is stored exactly once');
}

async function storedIds(): Promise<string[]> {
  const path = `/v1/projects/${service.project_id}/audit/decisions/export`;
  const answer = await fetch(`${service.url}${path}?window=24h&format=ndjson&agent=${AGENT}`);
  const lines = (await answer.text()).split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { event_id: string }).event_id);
}
