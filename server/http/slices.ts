import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** After this much work on one body, or this many pieces of it, the event loop turns to other work. */
const SLICE_MS_MAX = 5;
const SLICE_PIECES_MAX = 1000;

/**
 * Returns a function that takes a piece of the source, and pauses the source until the next turn when its share is used up. The number of
 * pieces counts as well: Node spends time on each, however small it is.
 */
export function createSlices(source: Readable): (work: () => void) => void {
  let [usedMs, pieces] = [0, 0];
  return (work) => {
    const startMs = performance.now();
    work();
    usedMs += performance.now() - startMs;
    pieces += 1;
    if (usedMs < SLICE_MS_MAX && pieces < SLICE_PIECES_MAX) return;
    [usedMs, pieces] = [0, 0];
    source.pause();
    setImmediate(() => source.resume());
  };
}

/** Reads and discards the rest of a body, so that the caller gets its answer instead of a reset. */
export function discardRest(req: IncomingMessage): void {
  const slice = createSlices(req);
  req.removeAllListeners('data').on('data', () => slice(() => undefined));
}
