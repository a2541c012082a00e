#!/usr/bin/env node
import { Console } from 'node:console';
import { readFile, writeFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import type { InnerGate } from './audit/gate.ts';
import type { ConfigureOptions } from './audit/gates.ts';
import { Journals } from './audit/journal.ts';
import { readEnvironment } from './config.ts';
import { bindingDeps, gates } from './defaults.ts';
import { messageOf } from './errors.ts';
import { pinFileIn, Pins } from './gateway/pins.ts';
import { policyOfTools } from './gateway/policy-of-tools.ts';
import { serveHttp } from './gateway/serve-http.ts';
import { listServerTools, type ServerAddress } from './gateway/server-tools.ts';
import { serveStdio } from './gateway/stdio.ts';
import { bind } from './govern/binding.ts';
import { registerAgent, shutdown } from './index.ts';
import { checkedOptions } from './options.ts';
import { visible } from './visible.ts';

const USAGE = `Usage: gatehouse-client mcp --agent NAME [options] SERVER
       gatehouse-client init --agent NAME [--output FILE] SERVER
       gatehouse-client register --agent NAME [--policy FILE] SERVER

SERVER is the MCP server, at the end: -- COMMAND [ARGUMENT…], or --url URL for one over Streamable HTTP.

mcp runs it under the policy of an agent: every tools/call is decided and recorded, tools that the role may not use are hidden, and
a tool whose description changes is held. init writes a policy for its tools, made from their annotations. register registers
the agent with its tools. Keys and addresses come from GATE_KEY, GATE_API_KEY, GATE_BASE_URL and the other variables of the client.

  --agent NAME            the agent, as it is registered
  --header 'NAME: VALUE'  sent to the URL; may be repeated. \${NAME} in it is an environment variable

mcp:
  --role ROLE             the role that the policy decides for
  --user ID, --session ID recorded with every decision
  --local-policy FILE     a policy in a file; default GATE_LOCAL_POLICY
  --state-dir DIRECTORY   keeps pinned descriptions, the smallest version, and events until they are sent; default GATE_STATE_DIR
  --approval-timeout MS   how long a person is waited for

init:
  --output FILE           the file to write, which must not exist; default standard output

register:
  --policy FILE           saves this policy as that of the agent; GATE_KEY needs the scope edit_policy. Without it a new agent gets the
                          default policy, and that of a registered one stays
`;

const TEXT = { type: 'string' } as const;
const OPTIONS = {
  agent: TEXT,
  role: TEXT,
  user: TEXT,
  session: TEXT,
  'local-policy': TEXT,
  'state-dir': TEXT,
  'approval-timeout': TEXT,
  output: TEXT,
  policy: TEXT,
  url: TEXT,
  header: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];
type Command = (agentName: string, server: ServerAddress, values: Values) => Promise<number>;

const COMMANDS: Record<string, { options: readonly string[]; run: Command }> = {
  mcp: {
    options: ['role', 'user', 'session', 'local-policy', 'state-dir', 'approval-timeout'],
    run: serve,
  },
  init: { options: ['output'], run: init },
  register: { options: ['policy'], run: register },
};

/** Standard output belongs to the protocol. */
const logger = new Console(
  new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => {
      process.stderr.write(visible(text));
      done();
    },
  }),
);

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  logger.error(messageOf(error));
  return 1;
});
// Standard input may still be open, and standard output may not have been read to its end.
process.stdout.write('', () => process.exit());

async function main(words: string[]): Promise<number> {
  const separator = words.indexOf('--');
  const [own, [command, ...args]] =
    separator < 0 ? [words, []] : [words.slice(0, separator), words.slice(separator + 1)];
  const { values, positionals } = parseArgs({ args: own, options: OPTIONS, allowPositionals: true });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { agent, url, header, help: _, ...rest } = values;
  const { run, options = [] } = COMMANDS[positionals.join()] ?? {};
  const isForAnother = Object.keys(rest).some((name) => !options.includes(name));
  const isOneServer =
    url === undefined ? command !== undefined && header === undefined : command === undefined;
  if (!run || isForAnother || agent === undefined || !isOneServer) {
    logger.error(USAGE);
    return 2;
  }
  return run(
    agent,
    url === undefined ? { command: command ?? '', args } : { url, headers: headersFrom(header) },
    values,
  );
}

async function serve(agentName: string, server: ServerAddress, values: Values): Promise<number> {
  const timeout = values['approval-timeout'];
  const stateDir = values['state-dir'] ?? readEnvironment().stateDir;
  const journals = stateDir === undefined ? undefined : new Journals(stateDir, logger);
  const options = {
    agentName,
    role: values.role,
    userId: values.user,
    sessionId: values.session,
    localPolicy: values['local-policy'],
    stateDir,
    approvalTimeoutMs: timeout === undefined ? undefined : Number(timeout),
    batch: true,
    logger,
  };
  const configure = (given: ConfigureOptions): InnerGate => gates.configure(given, journals);
  const binding = await bind(checkedOptions('bindPolicy', options), { ...bindingDeps, configure });
  const pinned = 'url' in server ? [server.url, ''] : ['', server.command, ...server.args];
  const pinFile = pinFileIn(stateDir, [agentName, ...pinned]);
  try {
    const parts = { binding, pins: new Pins(logger, pinFile), logger };
    return await ('url' in server ? serveHttp(server, parts) : serveStdio(server, parts));
  } finally {
    await shutdown();
  }
}

async function init(agentName: string, server: ServerAddress, { output }: Values): Promise<number> {
  const policy = await policyOfTools(agentName, await listServerTools(server, logger));
  if (output === undefined) process.stdout.write(policy);
  else await writeNew(output, policy);
  return 0;
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    throw isThere ? new Error(`${path} already exists. Delete it, or name another file.`) : error;
  }
}

async function register(agentName: string, server: ServerAddress, values: Values): Promise<number> {
  const policy = values.policy === undefined ? undefined : await readFile(values.policy, 'utf8');
  const tools = await listServerTools(server, logger);
  const { version, isNew } = await registerAgent({ agentName, tools, policy, logger });
  const what = isNew ? 'is registered' : 'was registered before';
  process.stdout.write(`${agentName} ${what}: version ${version}, ${tools.length} tools\n`);
  return 0;
}

/** A secret is passed as the name of a variable, because other users can see the arguments of a command. */
function headersFrom(texts: readonly string[] = []): Record<string, string> {
  const entries = texts.map((text) => {
    const [, name, value] = /^([^\s:]+):\s*(.*)$/.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new Error(`--header needs 'NAME: VALUE'`);
    return [name, value.replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => process.env[variable] ?? '')];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}
