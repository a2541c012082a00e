import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { destination, pino, symbols, type Logger } from 'pino';
import { LOG_CHARS_MAX, LOG_END_MS_MAX } from './limits.ts';

// A second line of defence: no code logs these on purpose.
const REDACT = ['req.headers.authorization', 'req.headers.cookie', 'err.config', 'err.cause.config'];

/** Logs JSON lines to standard output, asynchronously: call `endLog` before the process exits. */
export function createLogger(level: string): Logger {
  const stream = destination({ fd: 1, sync: false, maxLength: LOG_CHARS_MAX });
  // The disk of a log file may be full. The next line tries again.
  stream.on('error', () => {
    // At the exit, pino would repeat the failed write for ever.
    stream.flushSync = () => undefined;
  });
  return pino({ level, redact: { paths: REDACT, censor: '[redacted]' } }, stream);
}

/** Resolves when all lines are written, or dropped because nobody reads standard output. Later lines are dropped. */
export async function endLog(logger: Logger): Promise<void> {
  const stream = (logger as unknown as { [symbols.streamSym]: ReturnType<typeof destination> })[
    symbols.streamSym
  ];
  const closed = once(stream, 'close').catch(() => undefined);
  stream.end();
  // Work that failed because of the stop may log late. An ended stream would throw, and so end the process with an error.
  stream.write = () => true;
  await Promise.race([closed, sleep(LOG_END_MS_MAX)]);
  // Otherwise pino would wait at the exit for as long as the pipe is full.
  stream.destroy();
}
