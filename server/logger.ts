import { destination, pino, type Logger } from 'pino';
import { LOG_CHARS_MAX } from './limits.ts';

// A second line of defence: no code logs these on purpose.
const REDACT = ['req.headers.authorization', 'req.headers.cookie', 'err.config', 'err.cause.config'];

/** Logs JSON lines to standard output, asynchronously: call `flush` before the process ends. */
export function createLogger(level: string): Logger {
  return pino(
    { level, redact: { paths: REDACT, censor: '[redacted]' } },
    destination({ fd: 1, sync: false, maxLength: LOG_CHARS_MAX }),
  );
}
