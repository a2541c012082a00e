// A real Prometheus scrapes a running service, evaluates the alert rules and answers every panel of the dashboards.
// Needs Debian's prometheus: apt-get install prometheus
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestToken } from '../support/accounts.ts';
import { fetchAgent } from '../support/agents.ts';
import { sendDecision, sendLlm } from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { freePort } from '../support/listen.ts';
import { startTestService, temporaryDirectory, type TestService } from '../support/service.ts';
import { observabilityFile, panelExpressions } from './expressions.ts';

const WAIT_MS_MAX = 40_000;
const EVENTS = 40;

type Rule = { name: string; health: string; state: string; lastError?: string };
type Target = { health: string; lastError: string };

if (
  ['prometheus', 'promtool'].some((command) => spawnSync('sh', ['-c', `command -v ${command}`]).status !== 0)
) {
  console.error('prometheus and promtool are needed. On Debian or Ubuntu: sudo apt-get install prometheus');
  process.exit(1);
}

const directory = temporaryDirectory();
const [service, port] = await Promise.all([startTestService(), freePort()]);
const configPath = writeConfig(service);
execFileSync('promtool', ['check', 'config', configPath], { stdio: 'inherit' });
execFileSync('promtool', ['test', 'rules', 'alerts.test.yml'], { cwd: directory, stdio: 'inherit' });
const prometheus = spawn(
  'prometheus',
  [
    `--config.file=${configPath}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);
// The service's process alone does not keep this one waiting for its end.
const awake = setInterval(() => undefined, 1000);
try {
  await check();
} finally {
  prometheus.kill('SIGTERM');
  await service.stop();
  clearInterval(awake);
}
process.exit(0);

async function check(): Promise<void> {
  await recordSome(service);
  await until('Prometheus scrapes the service', async () => {
    const { activeTargets } = await ask<{ activeTargets: Target[] }>('targets');
    return activeTargets.length === 1 && activeTargets.every(({ health }) => health === 'up');
  });
  await recordSome(service);
  await until('every alert rule is evaluated without a fault', async () => {
    const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('rules');
    const rules = groups.flatMap((group) => group.rules);
    const broken = rules.find(({ health }) => health === 'err');
    if (broken !== undefined) throw new Error(`${broken.name}: ${broken.lastError}`);
    const firing = rules.filter(({ state }) => state === 'firing').map(({ name }) => name);
    if (firing.length > 0) throw new Error(`Alerts fire on a healthy service: ${firing.join(', ')}`);
    return rules.length > 0 && rules.every(({ health }) => health === 'ok');
  });
  const panels = panelExpressions();
  const waiting = new Set(panels);
  await until('every panel has data', async () => {
    for (const panel of waiting) {
      const expr = panel.expr.replaceAll(/\$__(rate_interval|range)/g, '1m');
      const { result } = await ask<{ result: unknown[] }>(`query?query=${encodeURIComponent(expr)}`);
      // No server errors are the best case, and produce no series.
      if (result.length > 0 || panel.place.endsWith('Server errors by route')) waiting.delete(panel);
    }
    return waiting.size === 0;
  }).catch((error: unknown) => {
    const missing = [...waiting].map(({ place, expr }) => `  ${place}: ${expr}`).join('\n');
    throw new Error(`Without data:\n${missing}`, { cause: error });
  });
  console.log(
    `Prometheus scraped the service, evaluated the rules and answered ${panels.length} panel queries.`,
  );
}

/** The committed configuration, with this service's address and a quicker pace. */
function writeConfig({ url }: TestService): string {
  const text = observabilityFile('prometheus/prometheus.yml')
    .replace('gatehouse:8000', new URL(url).host)
    .replaceAll(/(scrape_interval|evaluation_interval): 10s/g, '$1: 1s');
  for (const name of ['alerts.yml', 'alerts.test.yml'])
    writeFileSync(join(directory, name), observabilityFile(`prometheus/${name}`));
  const path = join(directory, 'prometheus.yml');
  writeFileSync(path, text);
  return path;
}

async function recordSome(service: TestService): Promise<void> {
  const outcomes = ['allow', 'allow', 'allow', 'deny', 'needs_approval'];
  const { demo } = service;
  await Promise.all([
    ...Array.from({ length: EVENTS }, (_, index) =>
      sendDecision(service, decisionEvent({ outcome: outcomes[index % outcomes.length] })),
    ),
    sendLlm(service, llmInvocation()),
    requestToken(service, 'reset', demo.dashboard?.email ?? ''),
    fetchAgent(service, demo.agent_name),
  ]);
}

async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
  const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string };
  if (status !== 'success') throw new Error(`${path}: ${error}`);
  return data;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  let last: unknown;
  for (const endMs = Date.now() + WAIT_MS_MAX; Date.now() < endMs; await sleep(500)) {
    try {
      if (await isSo()) {
        console.log(`ok: ${what}`);
        return;
      }
    } catch (error) {
      // Perhaps not up yet.
      last = error;
    }
  }
  throw new Error(`It did not happen: ${what}`, { cause: last });
}
