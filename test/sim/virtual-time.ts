// Replaces the clock and the timers of this process by virtual ones: hours pass in the time that their events take. Import it before any
// module that imports a timer by name.
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';

type Timer = { atMs: number; order: number; run: (() => void) | undefined };

const EPOCH_MS = Date.UTC(2026, 0, 1);
const realTurn = setImmediate;
/** A binary heap, the earliest first; timers of the same moment in the order of their creation. */
const heap: Timer[] = [];
let nowMs = 0;
let made = 0;

const isBefore = (a: Timer, b: Timer) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

function push(timer: Timer): void {
  let at = heap.push(timer) - 1;
  for (let up = (at - 1) >> 1; at > 0 && isBefore(timer, heap[up] as Timer); at = up, up = (at - 1) >> 1)
    heap[at] = heap[up] as Timer;
  heap[at] = timer;
}

function pop(): Timer | undefined {
  const [first] = heap;
  const last = heap.pop();
  if (last === undefined || last === first) return first;
  let at = 0;
  for (let down = 1; down < heap.length; down = 2 * at + 1) {
    const right = heap[down + 1];
    if (right !== undefined && isBefore(right, heap[down] as Timer)) down += 1;
    if (!isBefore(heap[down] as Timer, last)) break;
    heap[at] = heap[down] as Timer;
    at = down;
  }
  heap[at] = last;
  return first;
}

/** Runs `work` after this many virtual milliseconds. */
export function after(waitMs: number, work: () => void): Timer {
  const timer = { atMs: nowMs + Math.max(0, waitMs), order: (made += 1), run: work };
  push(timer);
  return timer;
}

/** Resolves after this many virtual milliseconds. */
export function pass(waitMs: number): Promise<void> {
  return new Promise((resolve) => after(waitMs, resolve));
}

/** Lets time pass until `untilMs`. All effects of a timer are done before the next one fires. */
export async function runUntil(untilMs: number): Promise<void> {
  for (;;) {
    await new Promise((resolve) => realTurn(resolve));
    while (heap[0] !== undefined && heap[0].run === undefined) pop();
    if (heap[0] === undefined || heap[0].atMs > untilMs) break;
    const timer = pop() as Timer;
    nowMs = timer.atMs;
    timer.run?.();
  }
  nowMs = untilMs;
}

/** What Node's timers have besides. */
const handle = (timer: Timer) => Object.assign(timer, { unref: () => timer, ref: () => timer });
const cancel = (timer?: Timer) => {
  if (timer !== undefined) timer.run = undefined;
};

function every(work: () => void, ms: number): Timer {
  const interval = handle({ atMs: 0, order: 0, run: () => undefined });
  const again = () => {
    if (interval.run === undefined) return;
    work();
    after(ms, again);
  };
  after(ms, again);
  return interval;
}

Object.assign(globalThis, {
  setTimeout: (work: () => void, ms = 0) => handle(after(ms, work)),
  setInterval: every,
  setImmediate: (work: () => void) => handle(after(0, work)),
  clearTimeout: cancel,
  clearInterval: cancel,
  clearImmediate: cancel,
});
Object.defineProperty(performance, 'now', { value: () => nowMs });
Date.now = () => EPOCH_MS + Math.floor(nowMs);
Object.assign(timersPromises, { setTimeout: pass, setImmediate: () => pass(0) });
syncBuiltinESMExports();
