import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { AccountStore } from '../accounts/account-store.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { AgentSaver } from '../agents/agent-saver.ts';
import { type Config, ConfigError } from '../config.ts';
import type { BearerKeys } from '../keys/bearer-keys.ts';
import { replaceFile, sync } from '../durable-files.ts';
import { makeDirectory } from '../make-directory.ts';
import type { Projects } from '../projects/projects.ts';

/** The contents of demo.json. Files of older releases lack the optional fields. */
export type Demo = {
  project_id: string;
  agent_name: string;
  key: string;
  dashboard?: { email: string; password: string };
  fleet_project_id?: string;
};

type DemoDeps = {
  accounts: Accounts;
  accountStore: AccountStore;
  projects: Projects;
  bearerKeys: BearerKeys;
  agentSaver: AgentSaver;
  logger: Logger;
};

const AGENT_NAME = 'demo-agent';
const EMAIL = 'demo@gatehouse.example';
const TOOLS = [
  { name: 'search', description: 'Searches the knowledge base', annotations: { readOnlyHint: true } },
  { name: 'read_ticket', description: 'Reads a support ticket', annotations: { readOnlyHint: true } },
  {
    name: 'send_refund',
    description: 'Sends money back to a customer',
    annotations: { destructiveHint: true },
  },
];

type DemoOptions = { dataDir: string; hasFleet: boolean };

/**
 * Creates the demo account with its projects, agent and key on an empty store, and writes demo.json. Later starts read
 * that file. A demo.json of another store, or one that is damaged, is ignored.
 */
export async function prepareDemo(
  deps: DemoDeps,
  { dataDir, hasFleet }: DemoOptions,
): Promise<Demo | undefined> {
  const path = join(dataDir, 'demo.json');
  const projects = await deps.projects.list();
  const before = readDemo(path);
  if (projects.some(({ id }) => id === before?.project_id)) return before;
  if ((await deps.accountStore.find(EMAIL)) !== undefined) {
    deps.logger.warn(
      `There is no demo: its account exists, but ${path} does not have its password, perhaps because an earlier start was interrupted, or the file is damaged. Start on an empty store to get a demo`,
    );
    return undefined;
  }
  if (projects.length > 0) return undefined;
  // The directory is created first: without the file, the key in the store would be lost.
  makeDirectory(dataDir);
  const demo = await makeDemo(deps, hasFleet);
  // Durably, because this process acknowledges events for the key soon.
  replaceFile(path, `${JSON.stringify(demo, null, 2)}\n`);
  sync(dataDir);
  return demo;
}

function readDemo(path: string): Demo | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Demo;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw new ConfigError([`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
}

async function makeDemo(
  { accounts, accountStore, projects, bearerKeys, agentSaver }: DemoDeps,
  hasFleet: boolean,
): Promise<Demo> {
  const dashboard = { email: EMAIL, password: randomBytes(18).toString('base64url') };
  const account = await accounts.register(dashboard, { address: '', projectName: 'Demo' });
  await accountStore.setVerified(account);
  const [project] = await projects.listOf(account.id);
  if (project === undefined) throw new Error('The demo account has no project');
  const projectId = project.id;
  await agentSaver.register({ name: AGENT_NAME, tools: TOOLS }, { projectId, by: 'demo' });
  const { key } = await bearerKeys.issue(projectId, { name: 'demo' }, account.id);
  const fleet = hasFleet ? { fleet_project_id: (await projects.create('Demo fleet', account.id)).id } : {};
  return { project_id: projectId, agent_name: AGENT_NAME, key, dashboard, ...fleet };
}

/** Where the service runs, how to sign in, and two commands to paste. */
export function welcomeText(
  url: string,
  { project_id, agent_name, key, dashboard, fleet_project_id }: Demo,
  { readAuth }: Pick<Config, 'readAuth'>,
): string {
  const event = `{\\"event_id\\":\\"$(${NEW_UUID})\\",\\"occurred_at\\":\\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\\",`;
  const decision = `\\"agent_name\\":\\"${agent_name}\\",\\"tool_name\\":\\"search\\",\\"outcome\\":\\"allow\\",`;
  const signIn = dashboard === undefined ? '' : `  sign in      ${dashboard.email}  ${dashboard.password}\n`;
  const fleet =
    fleet_project_id === undefined ? '' : `  sample data  ${url}/projects/${fleet_project_id}/overview\n`;
  return `
Gatehouse runs at ${url}

${signIn}${fleet}  your data    ${url}/projects/${project_id}/overview

  project  ${project_id}
  agent    ${agent_name}
  key      ${key}

Record a decision:

curl -sS -X POST ${url}/v1/audit/decisions \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d "${event}${decision}\\"arguments\\":{\\"query\\":\\"hello\\"}}"

See it counted:

curl -sS ${readAuth === 'required' ? `-H 'Authorization: Bearer ${key}' ` : ''}'${url}/v1/projects/${project_id}/audit/summary?window=24h'

`;
}

/** A UUID on Linux, or else on macOS. */
const NEW_UUID = 'cat /proc/sys/kernel/random/uuid 2>/dev/null || uuidgen';
