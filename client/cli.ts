#!/usr/bin/env node
import { Console } from 'node:console';
import { parseArgs } from 'node:util';
import { readEnvironment } from './config.ts';
import { messageOf } from './errors.ts';
import { serveHttp } from './gateway/http.ts';
import { pinFileIn } from './gateway/pins.ts';
import { serveStdio } from './gateway/stdio.ts';
import { bindPolicy, shutdown } from './index.ts';

const USAGE = `Usage: gatehouse-client mcp --agent NAME [options] -- COMMAND [ARGUMENT…]
       gatehouse-client mcp --agent NAME [options] --url URL

Runs an MCP server (stdio), or one over Streamable HTTP, under the policy of an agent: every tools/call is decided and recorded, tools that the role may not use
are hidden, and a tool whose description changes is held. Keys and addresses come from GATE_KEY, GATE_API_KEY, GATE_BASE_URL and
the other variables of the client.

  --agent NAME            the agent, as it is registered
  --role ROLE             the role that the policy decides for
  --user ID, --session ID recorded with every decision
  --local-policy FILE     a policy in a file; default GATE_LOCAL_POLICY
  --state-dir DIRECTORY   keeps pinned descriptions and the smallest version; default GATE_STATE_DIR
  --approval-timeout MS   how long a person is waited for
  --header 'NAME: VALUE'  sent to the URL; may be repeated. \${NAME} in it is an environment variable
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
  url: TEXT,
  header: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Standard output belongs to the protocol. */
const logger = new Console(process.stderr);

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  logger.error(messageOf(error));
  return 1;
});
// Standard input may still be open, and what was written to standard output not yet read.
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
  const { agent, url } = values;
  if (
    positionals.join() !== 'mcp' ||
    agent === undefined ||
    (command === undefined) === (url === undefined)
  ) {
    logger.error(USAGE);
    return 2;
  }
  const timeout = values['approval-timeout'];
  const stateDir = values['state-dir'] ?? readEnvironment().stateDir;
  const binding = await bindPolicy({
    agentName: agent,
    role: values.role,
    userId: values.user,
    sessionId: values.session,
    localPolicy: values['local-policy'],
    stateDir,
    approvalTimeoutMs: timeout === undefined ? undefined : Number(timeout),
    batch: true,
    logger,
  });
  try {
    const pinFile = pinFileIn(stateDir, [agent, url ?? '', command ?? '', ...args]);
    if (url !== undefined)
      return await serveHttp({ url, headers: headersFrom(values.header), binding, pinFile, logger });
    return await serveStdio({ command: command ?? '', args, binding, pinFile, logger });
  } finally {
    await shutdown();
  }
}

/** A secret is named by its variable: the words of a command can be seen by other users. */
function headersFrom(texts: readonly string[] = []): Record<string, string> {
  const entries = texts.map((text) => {
    const [, name, value] = /^([^\s:]+):\s*(.*)$/.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new Error(`--header needs 'NAME: VALUE'`);
    return [name, value.replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => process.env[variable] ?? '')];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}
