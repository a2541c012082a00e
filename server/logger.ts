import { once } from 'node:events';
import { destination, pino, symbols, type Logger } from 'pino';
import { LOG_CHARS_MAX, LOG_END_MS_MAX } from './limits.ts';
import { withTimeout } from './store/with-timeout.ts';

// A second line of defence: no code logs these on purpose.
const REDACT = ['req.headers.authorization', 'req.headers.cookie', 'err.config', 'err.cause.config'];

/** Logs JSON lines to standard output, asynchronously: call `endLog` before the process exits. */
export function createLogger(level: string): Logger {
  return pino(
    { level, redact: { paths: REDACT, censor: '[redacted]' } },
    destination({ fd: 1, sync: false, maxLength: LOG_CHARS_MAX }),
  );
}

/** Resolves when all lines are written, or dropped because nobody reads standard output. Nothing may be logged afterwards. */
export async function endLog(logger: Logger): Promise<void> {
  const stream = (logger as unknown as Record<symbol, ReturnType<typeof destination>>)[symbols.streamSym];
  const closed = once(stream as NodeJS.EventEmitter, 'close');
  stream?.end();
  // pino would wait at the exit for as long as the pipe is full.
  await withTimeout(closed, LOG_END_MS_MAX).catch(() => stream?.destroy());
}
