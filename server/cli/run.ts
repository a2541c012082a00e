import { readConfig } from '../config.ts';
import { problemFrom } from '../http/error-handler.ts';
import { expectedFaultText } from '../expected-fault.ts';
import { makeFilesPrivate } from '../private-files.ts';
import { StoreInUseError } from '../store/store.ts';
import { Report } from './audit/report.ts';
import { CommandError } from './command-error.ts';
import { findCommand, parseCommandLine, USAGE } from './commands.ts';

const IN_USE_HELP =
  "Manage projects and keys through the running service (POST /v1/projects, or POST /v1/projects/{id}/keys with a member's " +
  'session), or stop the service and run this command again.';

async function run(): Promise<void> {
  makeFilesPrivate();
  const { name, options } = parseCommandLine();
  if (options.help === true || name === '' || name === 'help') return void process.stdout.write(USAGE);
  const command = findCommand(name);
  if (command === undefined) throw new CommandError(`There is no command "${name}".\n\n${USAGE}`);
  const result = await command.run(readConfig, options);
  if (result instanceof Report) {
    process.exitCode = result.exitCode;
    console.log(options.json === true ? JSON.stringify(result.data) : result.text);
  } else if (options.json === true) console.log(JSON.stringify(result));
  else if (Array.isArray(result)) console.table(result);
  else
    for (const [key, value] of Object.entries(result as object))
      console.log(`${key.padEnd(12)} ${value ?? '-'}`);
}

/** The stack shows where an unexpected fault is. */
function textOf(error: unknown): string {
  const { message, stack, code } = error as NodeJS.ErrnoException;
  if (error instanceof StoreInUseError) return `${message} ${IN_USE_HELP}`;
  const isExpected =
    error instanceof CommandError ||
    problemFrom(error).code !== 'internal' ||
    code?.startsWith('ERR_PARSE_ARGS') === true;
  return expectedFaultText(error) ?? (isExpected ? message : (stack ?? message));
}

run().catch((error: unknown) => {
  process.stderr.write(`${textOf(error)}\n`);
  process.exit(1);
});
