type Log = (message: string, context?: Record<string, unknown>) => void;

/** The message comes first. No message and no context contains a key. */
export type Logger = { debug: Log; info: Log; warn: Log; error: Log };

/** Keys of the service are longer. Anything shorter may be part of an ordinary word. */
const KEY_CHARACTERS_MIN = 16;

/** The text of an answer, which may repeat the key. */
export function withoutKey(text: string, key: string): string {
  return key.length < KEY_CHARACTERS_MIN ? text : text.replaceAll(key, '[redacted]');
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** A logger that never throws, whatever the given one does. */
export function safeLogger(logger: Logger = console): Logger {
  const [debug, info, warn, error] = LEVELS.map((level): Log => (message, context) => {
    try {
      // An async function fits the type as well.
      const logged: unknown =
        context === undefined ? logger[level](message) : logger[level](message, context);
      Promise.resolve(logged).catch(() => undefined);
    } catch {
      // A broken logger must not change what the agent does.
    }
  }) as [Log, Log, Log, Log];
  return { debug, info, warn, error };
}
