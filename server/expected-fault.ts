import { ConfigError } from './config.ts';
import { SchemaTooNewError } from './store/migrate.ts';
import { clickhouseCode } from './store/store-error.ts';
import { StoreOpenError } from './store/store.ts';

const KINDS = [ConfigError, StoreOpenError, SchemaTooNewError];
const NOT_ENOUGH_SPACE = 243;
type SystemError = NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string };

/** One message that says what to do, for a fault of the configuration or the machine. Undefined for anything else. */
export function expectedFaultText(error: unknown): string | undefined {
  if (KINDS.some((kind) => error instanceof kind)) return (error as Error).message;
  const { code, message, address, port, hostname, path } = (error ?? {}) as SystemError;
  if (isDiskFull(error))
    return 'The disk is full. Free some space, or set GATE_DATA_DIR to a directory on another disk.';
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

/** The embedded engine reports a full disk deep inside its own errors. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as SystemError;
  const isFull = code === 'ENOSPC' || clickhouseCode(error) === NOT_ENOUGH_SPACE;
  return isFull || /NOT_ENOUGH_SPACE|No space left/.test(error.message) || isDiskFull(error.cause);
}
