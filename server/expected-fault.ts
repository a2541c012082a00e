import { ConfigError } from './config.ts';
import { SchemaTooNewError } from './store/migrate.ts';
import { StoreInUseError } from './store/store.ts';

const KINDS = [ConfigError, StoreInUseError, SchemaTooNewError];
/** What the system says of an address or a directory that does not do. */
const CODES = [
  'EADDRINUSE',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EACCES',
  'EPERM',
  'ENOENT',
  'ENOTDIR',
  'EROFS',
];

/** True for a fault of what was configured, which its message tells in full; anything else shows where it is. */
export function isExpectedFault(error: unknown): boolean {
  return (
    KINDS.some((kind) => error instanceof kind) || CODES.includes((error as NodeJS.ErrnoException).code ?? '')
  );
}
