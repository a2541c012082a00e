import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { auditVerify } from '../../server/cli/audit/commands.ts';
import {
  startTestService,
  storeDirectory,
  temporaryDirectory,
  type TestService,
} from '../support/service.ts';
import { type AuditFiles, FILE_ATTACKS, filesIn, STORE_ATTACKS } from './attacks.ts';
import { runPython } from '../support/verify-py.ts';
import { createProjects, download, fill, isLogged, type Project, tamper } from './service.ts';

/** The verdicts of both verifiers on an attack. */
export type Outcome = { attack: string; expected: number; ours: Said; python: Said };
/** The files that an auditor gets after an attack. */
type Attacked = Pick<Outcome, 'attack' | 'expected'> & { projectId: string; files: AuditFiles };
type Said = { code: number; verdict: string; found: string };

/** One project is attacked at a time, so that each attack is seen separately. Two more are for the copy of the data directory. */
const COPIES = ['restore an old copy', 'restore an old copy and go on'];

/**
 * Tampers with a real store in every way of attacks.ts, and lets both verifiers check what the service then shows. An auditor has seen the
 * log before, unless the attack says otherwise.
 */
export async function runTamper({
  records,
  onAttack,
}: {
  records: number;
  onAttack?: (attack: string) => void;
}): Promise<Outcome[]> {
  const dataDir = await storeDirectory();
  const [old, audits] = [temporaryDirectory(), temporaryDirectory()];
  let service = await startTestService({ dataDir });
  const projects = await createProjects(service, STORE_ATTACKS.length + COPIES.length);
  const [targets, copied] = [projects.slice(0, STORE_ATTACKS.length), projects.slice(STORE_ATTACKS.length)];
  await fillAll(service, copied, Math.ceil(records / 2));
  await service.stop();
  cpSync(dataDir, old, { recursive: true, verbatimSymlinks: true });
  service = await startTestService({ dataDir });
  await fillAll(service, projects, records);
  for (const { projectId } of projects)
    await visit(service, projectId, directoryOf(audits, projectId, 'before'));
  await service.stop();
  const onFiles = fileAttacks(projects[0] as Project, { audits, dataDir, onAttack });
  await tamper(
    dataDir,
    targets.flatMap((target, at) => STORE_ATTACKS[at]?.statements(target) ?? []),
  );
  service = await startTestService({ dataDir });
  const onStore: Attacked[] = [];
  for (const [at, { name, expected }] of STORE_ATTACKS.entries()) {
    onAttack?.(name);
    onStore.push(await look(service, projects[at] as Project, { audits, attack: name, expected }));
  }
  await service.stop();
  const onCopy = await oldCopy(old, copied, { audits, onAttack });
  return verdictsOf([...onStore, ...onFiles, ...onCopy]);
}

async function fillAll(service: TestService, projects: Project[], records: number): Promise<void> {
  for (const project of projects) await fill(service, project, records);
  for (const project of projects) await isLogged(service, project);
}

function directoryOf(audits: string, ...names: string[]): string {
  const directory = join(audits, ...names.map((name) => name.replaceAll(/\W+/g, '-')));
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** An auditor downloads everything, verifies it, and keeps the state. */
async function visit(service: TestService, projectId: string, directory: string): Promise<void> {
  const files = filesIn(directory);
  await download(service, projectId, files);
  const { exitCode, text } = await auditVerify(projectId, files);
  if (exitCode !== 0) throw new Error(`The log does not hold before any attack:\n${text}`);
}

type Context = { audits: string; onAttack: ((attack: string) => void) | undefined };

/** An auditor returns after the attack. */
async function look(
  service: TestService,
  { projectId }: Project,
  { audits, attack, expected }: { audits: string; attack: string; expected: number },
): Promise<Attacked> {
  const files = filesIn(directoryOf(audits, projectId, attack));
  await download(service, projectId, files);
  cpSync(filesIn(directoryOf(audits, projectId, 'before')).state, files.state);
  return { attack, expected, projectId, files };
}

function fileAttacks(
  { projectId }: Project,
  { audits, dataDir, onAttack }: Context & { dataDir: string },
): Attacked[] {
  return FILE_ATTACKS.map(({ name: attack, expected, change }) => {
    onAttack?.(attack);
    const directory = directoryOf(audits, projectId, attack);
    const files = filesIn(directory);
    cpSync(directoryOf(audits, projectId, 'before'), directory, { recursive: true });
    change(files, { projectId, logKey: join(dataDir, 'log-key.pem') });
    return { attack, expected, projectId, files };
  });
}

/** The earlier data directory with half of the records; one project then gets as many as before. */
async function oldCopy(
  dataDir: string,
  projects: Project[],
  { audits, onAttack }: Context,
): Promise<Attacked[]> {
  const service = await startTestService({ dataDir });
  const attacked: Attacked[] = [];
  for (const [at, attack] of COPIES.entries()) {
    onAttack?.(attack);
    const project = projects[at] as Project;
    if (at === 1) {
      const records = project.ids.length;
      project.ids.length = Math.ceil(records / 2);
      await fill(service, project, records + 1);
      await isLogged(service, project);
    }
    attacked.push(await look(service, project, { audits, attack, expected: 13 }));
  }
  await service.stop();
  return attacked;
}

async function verdictsOf(attacked: Attacked[]): Promise<Outcome[]> {
  const reports = await runPython(attacked.map(({ projectId, files }) => ({ project: projectId, ...files })));
  const outcomes: Outcome[] = [];
  for (const [at, { attack, expected, projectId, files }] of attacked.entries()) {
    const [, report = ''] = reports[at] ?? [];
    // Ours is second, because it writes the state.
    const { data } = await auditVerify(projectId, files);
    const python = saidBy(JSON.parse(report) as Record<string, unknown>);
    outcomes.push({ attack, expected, ours: saidBy(data), python });
  }
  return outcomes;
}

function saidBy(report: Record<string, unknown>): Said {
  const counted = ['altered', 'missing', 'added', 'too_new'].filter((name) => report[name] !== 0);
  return {
    code: Number(report['exit_code']),
    verdict: String(report['verdict']),
    found: counted.map((name) => `${String(report[name])} ${name}`).join(', '),
  };
}
