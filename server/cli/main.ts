import { parseArgs } from 'node:util';
import type { Difference } from '../records/verify.ts';
import { type Config, readConfig } from '../config.ts';
import { expectedFaultText } from '../expected-fault.ts';
import { KEY_DAYS_MAX } from '../limits.ts';
import { createLogger } from '../logger.ts';
import { parseProjectName } from '../projects/project-name.ts';
import { StoreInUseError } from '../store/store.ts';
import { openAdmin, type Admin } from './admin.ts';
import { backUp, restore } from './transfer-backup.ts';
import { exportStore } from './transfer-export.ts';
import { importStore } from './transfer-import.ts';

const USAGE = `npm run gate -- <command>

  project create --name NAME                       makes a project
  project list                                     lists the projects
  key issue --project ID [--name TEXT] [--days N]  issues a bearer key; it is shown only here
  key list --project ID                            lists the keys of a project, without the keys themselves
  key revoke --project ID --key KEY_ID             revokes a key, for good
  member add --project ID --email EMAIL            lets an account into a project
  member list --project ID                         lists the members of a project
  verify --project ID [--window 24h|7d|30d|90d]    compares every fast read with the rows themselves (90d)
  export --to DIRECTORY                            writes the embedded store into files; the service is stopped
  import --from DIRECTORY                          reads them into the store of GATE_CLICKHOUSE_URL
  backup --to DIRECTORY                            writes the embedded store and its root key; the service is stopped
  restore --from DIRECTORY                         brings a backup into an empty GATE_DATA_DIR

The commands work on the store that the environment names, as the service does (GATE_DATA_DIR, GATE_CLICKHOUSE_URL,
GATE_SIGNING_KEY). --json prints JSON.
`;

/** What was typed cannot be carried out; the message says what would be right. */
class UsageError extends Error {}

/** A read answers otherwise than the rows do; the message lists where. */
class VerifyError extends Error {}

type Options = {
  name?: string;
  project?: string;
  key?: string;
  days?: string;
  email?: string;
  window?: string;
  to?: string;
  from?: string;
  json?: boolean;
};
type Command = (admin: Admin, options: Options) => Promise<unknown>;

const COMMANDS: Record<string, Command> = {
  'project create': ({ projects }, options) =>
    projects.create(parseProjectName({ name: need(options, 'name') })),
  'project list': ({ projects }) => projects.list(),
  'key issue': async (admin, options) => {
    const projectId = await needProject(admin, options);
    const { name } = options;
    const key = await admin.bearerKeys.issue(projectId, { name, expiresInDays: daysOf(options) });
    const { key_id, expires_at } = key;
    await admin.record('key_issued', projectId, { key_id, name: key.name, expires_at });
    return key;
  },
  'key list': async (admin, options) => admin.bearerKeys.list(await needProject(admin, options)),
  'key revoke': async (admin, options) => {
    const keyId = need(options, 'key');
    const projectId = await needProject(admin, options);
    if (!(await admin.bearerKeys.revoke(projectId, keyId))) {
      throw new UsageError(`The project has no key ${keyId}. "key list" shows those it has.`);
    }
    await admin.record('key_revoked', projectId, { key_id: keyId });
    return { key_id: keyId, revoked: true };
  },
  'member add': async (admin, options) => {
    const projectId = await needProject(admin, options);
    const account = await admin.accountStore.find(need(options, 'email'));
    if (account === undefined) throw new UsageError('There is no account with that e-mail.');
    const { id, email } = account;
    await admin.projects.setMember({ projectId, accountId: id, isMember: true, changedBy: '' });
    await admin.record('member_added', projectId, { account_id: id, email });
    return { project_id: projectId, account_id: id, email };
  },
  'member list': async (admin, options) => {
    const members = await admin.projects.members(await needProject(admin, options));
    const emails = await admin.accountStore.emailsOf(members.map(({ account_id }) => account_id));
    return members.map((member) => ({ ...member, email: emails.get(member.account_id) ?? '' }));
  },
  verify: async (admin, options) => {
    const projectId = await needProject(admin, options);
    const window = options.window ?? '90d';
    const differences = await admin.verify(projectId, window);
    if (differences.length > 0) throw new VerifyError(differences.map(differenceText).join('\n'));
    return { project_id: projectId, window, differences: 0 };
  },
};

/** These open a store of their own. */
const TRANSFERS: Record<string, (config: Config, options: Options) => Promise<unknown>> = {
  export: (config, options) => exportStore(config, { to: need(options, 'to'), tell }),
  import: (config, options) => importStore(config, { from: need(options, 'from'), tell }),
  backup: (config, options) => backUp(config, { to: need(options, 'to') }),
  restore: (config, options) => restore(config, { from: need(options, 'from') }),
};

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

function differenceText({ what, fast, checked }: Difference): string {
  return `${what}: the read says ${JSON.stringify(fast)}, the rows say ${JSON.stringify(checked)}`;
}

async function needProject({ projects }: Admin, options: Options): Promise<string> {
  const projectId = need(options, 'project');
  if ((await projects.list()).some(({ id }) => id === projectId)) return projectId;
  throw new UsageError(`There is no project ${projectId}. "project list" shows those there are.`);
}

function need(options: Options, name: 'name' | 'project' | 'key' | 'email' | 'to' | 'from'): string {
  const value = options[name];
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing.\n\n${USAGE}`);
  return value;
}

function daysOf({ days }: Options): number | undefined {
  if (days === undefined) return undefined;
  if (/^\d{1,5}$/.test(days) && Number(days) > 0 && Number(days) <= KEY_DAYS_MAX) return Number(days);
  throw new UsageError(`--days is "${days}"; it must be a whole number from 1 to ${KEY_DAYS_MAX}.`);
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      project: { type: 'string' },
      key: { type: 'string' },
      days: { type: 'string' },
      email: { type: 'string' },
      window: { type: 'string' },
      to: { type: 'string' },
      from: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const name = positionals.join(' ');
  if (values.help === true || name === '' || name === 'help') return void process.stdout.write(USAGE);
  const transfer = commandNamed(name, TRANSFERS);
  if (transfer !== undefined) return print(await transfer(readConfig(), values), values.json === true);
  const command = commandNamed(name, COMMANDS);
  if (command === undefined) throw new UsageError(`There is no command "${name}".\n\n${USAGE}`);
  const admin = await openAdmin(readConfig(), createLogger('silent'));
  try {
    print(await command(admin, values), values.json === true);
  } finally {
    await admin.close();
  }
}

/** What every object has, such as "constructor", is no command. */
function commandNamed<T>(name: string, commands: Record<string, T>): T | undefined {
  return Object.hasOwn(commands, name) ? commands[name] : undefined;
}

function print(result: unknown, asJson: boolean): void {
  if (asJson) console.log(JSON.stringify(result));
  else if (Array.isArray(result)) console.table(result);
  else
    for (const [key, value] of Object.entries(result as object))
      console.log(`${key.padEnd(12)} ${value ?? '-'}`);
}

const IN_USE_HELP =
  'Manage projects and keys through the running service instead (POST /v1/projects, POST /v1/projects/{id}/keys with a ' +
  "member's session), or stop the service, run this command and start it again.";

run().catch((error: unknown) => {
  const { message, stack, name, code } = error as NodeJS.ErrnoException;
  const isExpected =
    error instanceof UsageError ||
    error instanceof VerifyError ||
    name === 'RequestError' ||
    name === 'TransferError' ||
    code?.startsWith('ERR_PARSE_ARGS') === true;
  if (error instanceof StoreInUseError) process.stderr.write(`${message} ${IN_USE_HELP}\n`);
  else process.stderr.write(`${expectedFaultText(error) ?? (isExpected ? message : (stack ?? message))}\n`);
  process.exit(1);
});
