import { inTurn } from './in-turn.ts';

/** Parts of a page that request the same data within this time share one read. Later, the data may have changed. */
const TOGETHER_MS = 1000;

type Shared = { answer: Promise<unknown>; sinceMs: number; readers: number; abort: AbortController };
const underWay = new Map<string, Shared>();

type Options = {
  signal: AbortSignal;
  /** Joins no other read, because something has changed. */
  mustBegin: boolean;
};

/** Runs a read in its turn, or joins an equal one that has just begun. It is aborted when all who requested it are gone. */
export async function sharedRead<T>(
  path: string,
  { signal, mustBegin }: Options,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const other = mustBegin ? undefined : underWay.get(path);
  const isTogether = other !== undefined && performance.now() - other.sinceMs < TOGETHER_MS;
  const shared = isTogether ? other : begin(path, read);
  shared.readers += 1;
  signal.addEventListener('abort', () => {
    shared.readers -= 1;
    if (shared.readers > 0) return;
    forget(path, shared);
    shared.abort.abort();
  });
  try {
    return (await shared.answer) as T;
  } finally {
    forget(path, shared);
    signal.throwIfAborted();
  }
}

function begin(path: string, read: (signal: AbortSignal) => Promise<unknown>): Shared {
  const abort = new AbortController();
  const answer = inTurn(abort.signal, () => read(abort.signal));
  const shared = { answer, sinceMs: performance.now(), readers: 0, abort };
  underWay.set(path, shared);
  return shared;
}

function forget(path: string, shared: Shared): void {
  if (underWay.get(path) === shared) underWay.delete(path);
}
