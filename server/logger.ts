import { destination, pino, type Logger } from 'pino';

// Belt and braces: nothing logs these on purpose.
const REDACT = ['req.headers.authorization', 'req.headers.cookie', 'err.config', 'err.cause.config'];

/** Logs as JSON lines to standard output, written off the event loop's thread; `flush` at the end of the process. */
export function createLogger(level: string): Logger {
  return pino(
    { level, redact: { paths: REDACT, censor: '[redacted]' } },
    destination({ fd: 1, sync: false }),
  );
}
