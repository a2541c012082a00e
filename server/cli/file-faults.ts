import { isDiskFull } from '../expected-fault.ts';
import { CommandError } from './command-error.ts';

/** Where the faults are: in a directory that an option names, which the command reads or writes. */
type Place = { directory?: string; isWritten?: boolean };

/** Runs a command. An unusable path in its options is a fault of the command, not of the configuration. */
export async function withFileFaults<T>(
  { directory = '', isWritten = false }: Place,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isWritten && isDiskFull(error))
      throw new CommandError(
        `The disk of ${directory} is full. Free some space, or name a directory on another disk.`,
      );
    const { path, code } = error as NodeJS.ErrnoException;
    const isOption = path !== undefined && (path.startsWith(directory) || directory.startsWith(path));
    throw isOption ? new CommandError(`${path} cannot be used (${code}).`, { cause: error }) : error;
  }
}
