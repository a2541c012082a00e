import { ConfigError } from './config.ts';
import { SchemaTooNewError } from './store/migrate.ts';
import { StoreInUseError, StoreOpenError } from './store/open-faults.ts';
import { clickhouseCode } from './store/store-error.ts';

const KINDS = [ConfigError, StoreOpenError, SchemaTooNewError];
const NOT_ENOUGH_SPACE = 243;
type SystemError = NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string };

/** One message that says what to do about a fault of the configuration or the machine. Undefined for anything else. */
export function expectedFaultText(error: unknown): string | undefined {
  if (error instanceof StoreInUseError)
    return `${error.message} Stop that process, or set GATE_DATA_DIR to another directory.`;
  if (KINDS.some((kind) => error instanceof kind)) return (error as Error).message;
  const { code, message, address, port, hostname, path } = (error ?? {}) as SystemError;
  if (isDiskFull(error))
    return 'The disk is full. Free some space, or set GATE_DATA_DIR to a directory on another disk.';
  if (isOneOf(error, { codes: ['EMFILE'], text: /Too many open files/ }))
    return 'This process may open too few files. Raise its limit ("ulimit -n") to 1024 or more.';
  if (isOneOf(error, { codes: [], text: /failed to start the thread/ }))
    return 'This process may start too few threads. Raise its limit ("ulimit -u", or pids.max of its cgroup) to 512 or more.';
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${address} is in use. Stop the process that uses it, or set GATE_PORT to a free port.`;
    case 'EADDRNOTAVAIL':
      return `${address} is not an address of this machine. Set GATE_HOST to one that is, such as 127.0.0.1.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host ${hostname} cannot be resolved. Set GATE_HOST to an address of this machine, such as 127.0.0.1.`;
    case 'EACCES':
    case 'EPERM':
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EROFS':
      return path === undefined
        ? `${message}. Set GATE_PORT to a port that this user may open.`
        : `${message}. Set GATE_DATA_DIR to a directory that this user may write to.`;
    default:
      return undefined;
  }
}

export function isDiskFull(error: unknown): boolean {
  return isOneOf(error, { codes: ['ENOSPC', NOT_ENOUGH_SPACE], text: /NOT_ENOUGH_SPACE|No space left/ });
}

/** The embedded engine reports faults of the machine deep inside its own errors. */
function isOneOf(error: unknown, kind: { codes: (string | number)[]; text: RegExp }): boolean {
  if (!(error instanceof Error)) return false;
  const code = clickhouseCode(error) ?? (error as SystemError).code ?? '';
  return kind.codes.includes(code) || kind.text.test(error.message) || isOneOf(error.cause, kind);
}
