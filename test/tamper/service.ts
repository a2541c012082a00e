import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchTiles } from '../../server/cli/audit/mirror.ts';
import { connectEmbedded } from '../../server/store/connection.ts';
import { jsonOf, call, type Person, demoCookie } from '../support/accounts.ts';
import { batchOutcome, sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { inProcess } from '../support/in-process.ts';
import { issue } from '../support/keys.ts';
import type { TestService } from '../support/service.ts';
import type { AuditFiles, Target } from './attacks.ts';

const BATCH = 1000;

export type Project = Target & { key: string };

export async function createProjects(service: TestService, count: number): Promise<Project[]> {
  const cookie = await demoCookie(service);
  const projects: Project[] = [];
  for (let at = 0; at < count; at += 1) {
    const body = { name: `tamper ${at}` };
    const project = await jsonOf<Person['project']>(call(service, '/v1/projects', { cookie, body }));
    const { key } = await issue(service, { cookie, project });
    projects.push({ projectId: project.id, key, ids: [] });
  }
  return projects;
}

/** Sends events until the project has this many, and resolves when they are in its log. */
export async function fill({ url }: TestService, project: Project, records: number): Promise<void> {
  while (project.ids.length < records) {
    const first = project.ids.length;
    const events = Array.from({ length: Math.min(BATCH, records - first) }, (_, at) =>
      decisionEvent({ reason: `reason ${first + at}` }),
    );
    const { status } = await batchOutcome(sendBatch({ url, key: project.key }, events));
    if (status !== 202) throw new Error(`A batch was answered with ${status}`);
    project.ids.push(...events.map(({ event_id }) => String(event_id)));
  }
}

export async function isLogged({ url }: TestService, { projectId, ids }: Project): Promise<void> {
  await eventually(async () => {
    const checkpoint = await (await fetch(`${url}/v1/projects/${projectId}/log/checkpoint`)).text();
    return checkpoint.split('\n')[1] === String(ids.length);
  });
}

/** Downloads what an auditor verifies offline, unchanged: `audit mirror` would keep nothing of an invalid log. */
export async function download({ url }: TestService, projectId: string, files: AuditFiles): Promise<void> {
  const project = `${url}/v1/projects/${projectId}`;
  await save(`${project}/audit/decisions/export?window=90d`, files.export);
  await save(`${project}/audit/decisions/export/proofs?window=90d`, files.proofs);
  mkdirSync(files.log);
  await save(`${project}/log/checkpoint`, join(files.log, 'checkpoint'));
  await save(`${project}/log/vkey`, join(files.log, 'vkey'));
  await save(`${url}/v1/.well-known/keys`, join(files.log, 'keys.json'));
  const size = Number(readFileSync(join(files.log, 'checkpoint'), 'utf8').split('\n')[1]);
  await fetchTiles({ url, projectId }, { to: files.log, size });
}

async function save(address: string, path: string): Promise<void> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address} answered ${response.status}: ${await response.text()}`);
  writeFileSync(path, Buffer.from(await response.arrayBuffer()));
}

/** Runs statements on a store that no service has open. */
export function tamper(dataDir: string, statements: string[]): Promise<unknown> {
  return inProcess(new URL(import.meta.url), 'runStatements', {
    path: join(dataDir, 'clickhouse'),
    statements,
  });
}

/** Called in a separate process. */
export async function runStatements({
  path,
  statements,
}: {
  path: string;
  statements: string[];
}): Promise<number> {
  const connection = connectEmbedded(path, {});
  try {
    for (const statement of statements) await connection.command(statement);
    return statements.length;
  } finally {
    await connection.close();
  }
}
