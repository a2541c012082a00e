import { DEFAULT_SCOPE, type Role, ROLES } from '../rights.ts';
import type { Config } from '../config.ts';
import { parseNewKey } from '../keys/new-key.ts';
import { memberEntry } from '../members/members.ts';
import { parseProjectName } from '../projects/project-name.ts';
import { type Admin, openAdmin } from './admin.ts';
import { auditMirror, auditVerify } from './audit/commands.ts';
import { CommandError } from './command-error.ts';
import { daysOf, type Options, required, roleOf } from './options.ts';
import { rotateRootKey } from './rotate-root-key.ts';
import { backUp, restore } from './transfer-backup.ts';
import { exportStore } from './transfer-export.ts';
import { importStore } from './transfer-import.ts';

type Command = {
  /** Names every option that the command takes. */
  usage: string;
  help: string;
  /** Reads the configuration only if it needs it. */
  run: (readConfig: () => Config, options: Options) => Promise<unknown>;
};

const COMMANDS: Record<string, Command> = {
  'project create': {
    usage: '--name NAME',
    help: 'Create a project.',
    run: withAdmin(
      async ({ projects, record }, options) => {
        const project = await projects.create(parseProjectName({ name: required(options, 'name') }));
        await record('project_created', project.id, { name: project.name });
        return project;
      },
      { mayCreate: true },
    ),
  },
  'project list': {
    usage: '',
    help: 'List the projects, oldest first.',
    run: withAdmin(({ projects }) => projects.list()),
  },
  'key issue': {
    usage: '--project ID [--name TEXT] [--days N] [--scope SCOPES] [--agent NAME …]',
    help: `Issue a bearer key, shown only once. SCOPES: "${DEFAULT_SCOPE}" by default.`,
    run: withProject(async (admin, options, projectId) => {
      const { name, scope, agent: agents } = options;
      const request = parseNewKey({ name, scope, agents, expires_in_days: daysOf(options) });
      const { created_by: _nobody, ...key } = await admin.bearerKeys.issue(projectId, request);
      const { key_id, expires_at } = key;
      const detail = { key_id, name: key.name, scope: key.scope, agents: key.agents, expires_at };
      await admin.record('key_issued', projectId, detail);
      return key;
    }),
  },
  'key list': {
    usage: '--project ID',
    help: 'List the keys of a project, oldest first, without their values.',
    run: withProject(({ bearerKeys }, _options, projectId) => bearerKeys.list(projectId)),
  },
  'key revoke': {
    usage: '--project ID --key KEY_ID',
    help: 'Revoke a key. This cannot be undone.',
    run: withProject(async (admin, options, projectId) => {
      const key_id = required(options, 'key');
      if (!(await admin.bearerKeys.revoke(projectId, key_id)))
        throw new CommandError(`The project has no key ${key_id}. "key list" lists its keys.`);
      await admin.record('key_revoked', projectId, { key_id });
      return { key_id, revoked: true };
    }),
  },
  'key rotate': {
    usage: '',
    help: 'Replace the root key. Stop an embedded service first.',
    run: (readConfig) => rotateRootKey(readConfig()),
  },
  'key forget': {
    usage: '--key KID',
    help: 'End the trust in a retired root key, when the services start again.',
    run: withAdmin(async (admin, options) => {
      const kid = required(options, 'key');
      const rootKeys = admin.rootKeys();
      if (kid === rootKeys.current.kid)
        throw new CommandError(
          'This is the root key in use, and the ones before it are forgotten by their own --key.',
        );
      const rotations = await rootKeys.forget(kid);
      if (rotations === 0)
        throw new CommandError(`The store has no rotation from or to the root key ${kid}.`);
      return { kid, forgotten: true, rotations };
    }),
  },
  'member add': {
    usage: '--project ID --email EMAIL [--role ROLE]',
    help: `Add an account to a project or change its role: ${ROLES.join(', ')} (default editor).`,
    run: withProject(async (admin, options, projectId) => {
      const account = await admin.accountStore.find(required(options, 'email'));
      if (account === undefined)
        throw new CommandError('There is no account with this e-mail. "member invite" makes one.');
      // Anyone can register an address that is not theirs.
      if (!account.is_verified)
        throw new CommandError(
          'This account has not verified its e-mail address, so it could belong to anyone.',
        );
      const { id: account_id, email } = account;
      const role = roleOf(options);
      await setRole(admin, projectId, { ...account, role });
      return { project_id: projectId, account_id, email, role };
    }),
  },
  'member invite': {
    usage: '--project ID --email EMAIL [--role ROLE]',
    help: 'Create an account, add it to a project, and print the link that sets its password.',
    run: withProject(async (admin, options, projectId) => {
      const role = roleOf(options);
      const account = await admin.invite(required(options, 'email'));
      const { id: account_id, email, link } = account;
      await setRole(admin, projectId, { ...account, role });
      return { project_id: projectId, account_id, email, role, link };
    }),
  },
  'member list': {
    usage: '--project ID',
    help: 'List the members of a project.',
    run: withProject(async ({ members, accountStore }, _options, projectId) => {
      const list = await members.list(projectId);
      const emails = await accountStore.emailsOf(list.map(({ account_id }) => account_id));
      return list.map((member) => ({ ...member, email: emails.get(member.account_id) ?? '' }));
    }),
  },
  verify: {
    usage: '--project ID [--window 24h|7d|30d|90d]',
    help: 'Compare every fast read with the rows (default: 90d) while nothing is sent to the project.',
    run: withProject(async ({ verify }, { window = '90d' }, projectId) => {
      const differences = (await verify(projectId, window)).map(
        ({ what, fast, checked }) =>
          `${what}: the read says ${JSON.stringify(fast)}, the rows say ${JSON.stringify(checked)}`,
      );
      if (differences.length > 0) throw new CommandError(differences.join('\n'));
      return { project_id: projectId, window, differences: 0 };
    }),
  },
  'audit verify': {
    usage:
      '--project ID (--url URL [--bearer KEY] | --export FILE --proofs FILE --log DIRECTORY)\n    [--vkey KEY] [--state FILE] [--receipts FILE] [--at TIME]',
    help: 'Verify the decisions of a project against its log. Exit codes: docs/proof.md.',
    run: (_readConfig, options) => auditVerify(required(options, 'project'), options),
  },
  'audit mirror': {
    usage: '--project ID --url URL [--bearer KEY] [--vkey KEY] --to DIRECTORY',
    help: 'Copy the log of a project into a directory; later runs fetch only what is new.',
    run: (_readConfig, options) => auditMirror(required(options, 'project'), options),
  },
  export: {
    usage: '--to DIRECTORY',
    help: 'Export the embedded store to files. Stop the service first.',
    run: (readConfig, options) => exportStore(readConfig(), required(options, 'to')),
  },
  import: {
    usage: '--from DIRECTORY',
    help: 'Import an export into the store of GATE_CLICKHOUSE_URL, or into that of GATE_DATA_DIR.',
    run: (readConfig, options) => importStore(readConfig(), required(options, 'from')),
  },
  backup: {
    usage: '--to DIRECTORY',
    help: 'Back up the embedded store and its keys. Stop the service first.',
    run: (readConfig, options) => backUp(readConfig(), required(options, 'to')),
  },
  restore: {
    usage: '--from DIRECTORY',
    help: 'Restore a backup into an empty GATE_DATA_DIR.',
    run: (readConfig, options) => restore(readConfig(), required(options, 'from')),
  },
};

/** The help of a command is printed below it. */
const entryOf = ([name, { usage, help }]: [string, Command]) =>
  `  ${name} ${usage}`.trimEnd() + `\n      ${help}`;

/** The help of a command, or of all commands whose names begin with this word; '' if there is none. */
export function usageOf(name: string): string {
  const entries = Object.entries(COMMANDS).filter(([one]) => name === '' || `${one} `.startsWith(`${name} `));
  return entries.length === 0
    ? ''
    : `npm run gate -- <command> [--json]\n\n${entries.map(entryOf).join('\n')}\n`;
}

export const USAGE = `${usageOf('')}
The commands use the store and the root key that the environment names, as the service does:
GATE_DATA_DIR, GATE_CLICKHOUSE_URL, GATE_SIGNING_KEY. "audit" commands need none of them; without
--bearer they take the key from GATE_API_KEY, which the list of processes does not show.
Only "project create", "import" and "restore" create a store. With --json the commands print JSON.
`;

/** Undefined for a name such as "constructor", which every object has. */
export function findCommand(name: string): Command | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

function withAdmin(
  run: (admin: Admin, options: Options) => Promise<unknown>,
  opening?: { mayCreate: boolean },
): Command['run'] {
  return async (readConfig, options) => {
    const admin = await openAdmin(readConfig(), opening);
    try {
      return await run(admin, options);
    } finally {
      await admin.close();
    }
  };
}

function withProject(
  run: (admin: Admin, options: Options, projectId: string) => Promise<unknown>,
): Command['run'] {
  return withAdmin(async (admin, options) => {
    const projectId = required(options, 'project');
    if ((await admin.projects.list()).some(({ id }) => id === projectId))
      return run(admin, options, projectId);
    throw new CommandError(`There is no project ${projectId}. "project list" lists the projects.`);
  });
}

async function setRole(
  { members, record }: Admin,
  projectId: string,
  { id, email, role }: { id: string; email: string; role: Role },
): Promise<void> {
  const change = await members.change({ projectId, accountId: id, changedBy: '' }, () => role);
  const entry = memberEntry({ account_id: id, email }, change);
  if (entry !== undefined) await record(entry.event, projectId, entry.detail ?? {});
}
