import type { Readable, Writable } from 'node:stream';

const NEWLINE = 0x0a;

/** One message; larger than any server accepts. */
export const LINE_BYTES_MAX = 64 * 1024 * 1024;

/** Calls back with every line, including its end, exactly as received. Resolves at the end of the stream. */
export function readLines(source: Readable, onLine: (line: Buffer) => void): Promise<void> {
  let parts: Buffer[] = [];
  let bytes = 0;
  source.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([...parts, chunk.subarray(start, end + 1)]);
      [parts, bytes, start] = [[], 0, end + 1];
      onLine(line);
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes > LINE_BYTES_MAX) source.destroy(new Error(`a message has more than ${LINE_BYTES_MAX} bytes`));
  });
  return new Promise((resolve, reject) => {
    source.on('end', () => {
      if (bytes > 0) onLine(Buffer.concat(parts));
      resolve();
    });
    source.on('close', resolve);
    source.on('error', reject);
  });
}

/** A source that can be paused while its reader is behind. */
export type Source = { isPaused(): boolean; pause(): void; resume(): void };

/**
 * Writes to the target, all lines of one turn of the event loop together. Pauses the source while more than one message waits. Until then
 * the source is read, because only a read detects its end.
 */
export function writerTo(target: Writable, source: Source): (line: Buffer | string) => void {
  return (line) => {
    if (target.writableCorked === 0) {
      target.cork();
      process.nextTick(() => target.uncork());
    }
    if (!target.writable || target.write(line)) return;
    if (target.writableLength <= LINE_BYTES_MAX || source.isPaused()) return;
    source.pause();
    target.once('drain', () => source.resume());
  };
}
