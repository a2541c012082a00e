import type { Logger } from '../../client/logger.ts';

export type Line = { level: keyof Logger; message: string; context: Record<string, unknown> | undefined };

export type CaptureLogger = Logger & {
  lines: Line[];
  /** The messages of one level. */
  at(level: keyof Logger): string[];
};

/** A logger that keeps its messages. */
export function captureLogger(): CaptureLogger {
  const lines: Line[] = [];
  const keep =
    (level: keyof Logger) =>
    (message: string, context?: Record<string, unknown>): void =>
      void lines.push({ level, message, context });
  return {
    lines,
    at: (level) => lines.filter((line) => line.level === level).map(({ message }) => message),
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
  };
}
