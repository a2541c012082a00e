import { visible } from '../../client/visible.ts';
import { readConfig } from '../config.ts';
import { problemFrom } from '../http/error-handler.ts';
import { expectedFaultText } from '../expected-fault.ts';
import { makeFilesPrivate } from '../private-files.ts';
import { clickhouseCode, StoreError } from '../store/store-error.ts';
import { StoreInUseError } from '../store/open-faults.ts';
import { Report } from './audit/report.ts';
import { CommandError, UsageError } from './command-error.ts';
import { findCommand, USAGE, usageOf } from './commands.ts';
import { parseOptions, splitCommandLine } from './options.ts';

const IN_USE_HELP =
  'Stop the service and run this command again. Projects and keys can be managed through the running service, too ' +
  "(POST /v1/projects, or POST /v1/projects/{id}/keys with a member's session).";

async function run(): Promise<void> {
  makeFilesPrivate();
  const { name, rest } = splitCommandLine(process.argv.slice(2));
  const isHelp = rest.every((arg) => arg === '-h' || arg === '--help');
  if ((isHelp && name === '') || name === 'help') return void process.stdout.write(USAGE);
  const command = findCommand(name);
  if (command === undefined) {
    const usage = usageOf(name);
    if (isHelp && rest.length > 0 && usage !== '') return void process.stdout.write(usage);
    const more = usage === '' ? '"npm run gate -- help" lists the commands.' : `\n${usage}`;
    throw new CommandError(`There is no command "${name}".\n${more}`);
  }
  try {
    const options = parseOptions(command, rest);
    if (options.help === true) process.stdout.write(usageOf(name));
    else print(await command.run(readConfig, options), options.json === true);
  } catch (error) {
    throw isUsageFault(error) ? new CommandError(`${error.message}\n\n${usageOf(name)}`) : error;
  }
}

function print(result: unknown, isJson: boolean): void {
  if (result instanceof Report) {
    process.exitCode = result.exitCode;
    console.log(isJson ? JSON.stringify(result.data) : visible(result.text));
    if (isJson && result.hint !== undefined) console.error(result.hint);
  } else if (isJson) console.log(JSON.stringify(result));
  else if (Array.isArray(result)) console.table(result);
  else
    for (const [key, value] of Object.entries(result as object))
      console.log(`${key.padEnd(12)} ${value ?? '-'}`);
}

function isUsageFault(error: unknown): error is Error {
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof UsageError || code?.startsWith('ERR_PARSE_ARGS') === true;
}

/** The stack shows where an unexpected fault is. */
function textOf(error: unknown): string {
  const { message, stack } = error as Error;
  if (error instanceof CommandError) return message;
  if (error instanceof StoreInUseError) return `${message} ${IN_USE_HELP}`;
  const expected = expectedFaultText(error);
  if (expected !== undefined) return expected;
  if (error instanceof StoreError && error.cause instanceof Error) {
    const isRefused = clickhouseCode(error.cause) !== undefined;
    return `${isRefused ? 'The store refused.' : message} ${error.cause.message}`;
  }
  return problemFrom(error).code === 'internal' ? (stack ?? message) : message;
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader, such as head, has seen enough.
  if (error.code === 'EPIPE') return;
  process.stderr.write(`The result cannot be written to standard output: ${error.message}\n`);
  process.exitCode ||= 1;
});
run().catch((error: unknown) => {
  process.stderr.write(`${visible(textOf(error).trimEnd())}\n`);
  process.exit(1);
});
