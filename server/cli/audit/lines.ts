import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** The lines of a file without their newlines, in constant memory. A line stays valid: its bytes are not reused. */
export function* linesOf(path: string): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    let rest = Buffer.alloc(0);
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const bytes = readSync(file, chunk);
      if (bytes === 0) break;
      rest = yield* wholeLines(Buffer.concat([rest, chunk.subarray(0, bytes)]));
    }
    if (rest.length > 0) yield rest;
  } finally {
    closeSync(file);
  }
}

/** Returns the rest after the last newline. */
function* wholeLines(text: Buffer): Generator<Buffer, Buffer<ArrayBuffer>> {
  let start = 0;
  for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, start)) {
    yield text.subarray(start, end);
    start = end + 1;
  }
  return Buffer.from(text.subarray(start));
}
