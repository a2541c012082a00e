import { ConfigError } from './config.ts';
import { SchemaTooNewError } from './store/migrate.ts';
import { StoreInUseError } from './store/store.ts';

const KINDS = [ConfigError, StoreInUseError, SchemaTooNewError];
/** System errors of an address or a directory that cannot be used. */
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

/** True for a configuration fault that the message explains in full. Any other error needs its stack trace. */
export function isExpectedFault(error: unknown): boolean {
  return (
    KINDS.some((kind) => error instanceof kind) || CODES.includes((error as NodeJS.ErrnoException).code ?? '')
  );
}
