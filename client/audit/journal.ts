import { appendFileSync, closeSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import { JOURNAL_FILE_BYTES, JOURNAL_MS_MAX } from '../limits.ts';
import { hashedName } from '../hashed-name.ts';
import { makeDirectory } from '../make-directory.ts';
import type { Logger } from '../logger.ts';
import type { Emitter, Totals } from './emitter.ts';

/** A line of a journal: the totals of the sender including this event, and its text. A dropped event has no text. */
type JournalLine = Totals & { text: string };

/** A file of a journal. Its first event has the number `from`, and `waiting` of its events are not settled. */
type Segment = { path: string; file: number; from: number; bytes: number; waiting: number };

const NAME = /^events-(?<target>[0-9a-f]{32})-(?<pid>\d+)-(?<emitter>[0-9a-f-]{36})-(?<from>\d+)$/;

/**
 * The events of one sender, on disk from before `emit` returns until they are settled, so that none is lost if the process is killed. A
 * disk failure ends the journal with one warning and has no other effect: no method throws.
 */
export class Journal {
  readonly #emitter: Emitter;
  readonly #prefix: string;
  readonly #logger: Logger;
  /** The last one is written to. */
  #segments: Segment[] = [];
  #isBroken = false;

  /** The names of its files begin with `prefix`. */
  constructor(emitter: Emitter, { prefix, logger }: { prefix: string; logger: Logger }) {
    this.#emitter = emitter;
    this.#prefix = prefix;
    this.#logger = logger;
  }

  /** Must be called right after the event got its number; without a text if it is not sent. */
  append(text = ''): void {
    if (this.#isBroken) return;
    try {
      const { emitted, dropped, failed } = this.#emitter.totals();
      const segment = this.#segmentFrom(emitted);
      const line = `${emitted} ${dropped} ${failed} ${text}\n`;
      // Not synced to the disk: data that a process has written survives its death.
      appendFileSync(segment.file, line);
      segment.bytes += Buffer.byteLength(line);
      if (text !== '') segment.waiting += 1;
    } catch (error) {
      this.#isBroken = true;
      this.remove();
      const message = 'The journal of audit events cannot be written; a kill of the process loses what waits';
      this.#logger.warn(message, { problem: messageOf(error) });
    }
  }

  /** False once the disk has failed. */
  get isUsable(): boolean {
    return !this.#isBroken;
  }

  /** These events are stored, or were rejected. */
  settle(events: readonly { sequence: number }[]): void {
    for (const { sequence } of events) {
      const segment = this.#segments.findLast(({ from }) => from <= sequence);
      if (segment !== undefined) segment.waiting -= 1;
    }
    const current = this.#segments.at(-1);
    const isDone = (one: Segment): boolean => one !== current && one.waiting === 0;
    this.#segments.filter(isDone).forEach(discard);
    this.#segments = this.#segments.filter((one) => !isDone(one));
  }

  /** The service knows about all of its events. */
  remove(): void {
    this.#segments.slice(-1).forEach(close);
    this.#segments.forEach(discard);
    this.#segments = [];
  }

  #segmentFrom(from: number): Segment {
    const last = this.#segments.at(-1);
    if (last !== undefined && last.bytes < JOURNAL_FILE_BYTES) return last;
    const path = `${this.#prefix}${from}`;
    const next = { path, file: openSync(path, 'ax', 0o600), from, bytes: 0, waiting: 0 };
    // An outage may leave many files.
    if (last !== undefined) close(last);
    this.#segments.push(next);
    this.settle([]);
    return next;
  }
}

/** A sender's journal that an earlier process left behind. */
export class AbandonedJournal {
  readonly emitter: string;
  readonly #paths: readonly string[];

  constructor(emitter: string, paths: readonly string[]) {
    this.emitter = emitter;
    this.#paths = paths;
  }

  /** The lines of the files, one file after the other. A line that was cut short is left out, because its call did not complete. */
  *files(): Generator<JournalLine[]> {
    for (const path of this.#paths) {
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
      yield lines.map((line) => {
        const [, emitted, dropped, failed, text = ''] = /^(\d+) (\d+) (\d+) ([^]*)$/.exec(line) ?? [];
        return { emitted: Number(emitted), dropped: Number(dropped), failed: Number(failed), text };
      });
    }
  }

  remove(): void {
    for (const path of this.#paths) rmSync(path, { force: true });
  }
}

/** The journals in one directory, which the processes of one machine may share. */
export class Journals {
  readonly #directory: string;
  readonly #logger: Logger;
  readonly #own = new Set<string>();

  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
  }

  /** `target` says where the events go: the service, the key and the path. */
  open(emitter: Emitter, target: readonly string[]): Journal {
    this.#own.add(emitter.id);
    const prefix = join(this.#directory, `events-${hashedName(...target)}-${process.pid}-${emitter.id}-`);
    try {
      makeDirectory(this.#directory, 0o700);
    } catch {
      // The first event reports it.
    }
    return new Journal(emitter, { prefix, logger: this.#logger });
  }

  /** The journals for this target whose process has ended. Removes those that are too old for any service. */
  abandoned(target: readonly string[]): AbandonedJournal[] {
    const hash = hashedName(...target);
    const found = new Map<string, { path: string; from: number }[]>();
    for (const name of namesIn(this.#directory)) {
      const { target: of, pid, emitter = '', from } = NAME.exec(name)?.groups ?? {};
      if (of === undefined || this.#own.has(emitter) || isRunning(Number(pid))) continue;
      const path = join(this.#directory, name);
      const { mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
      if (Date.now() - mtimeMs > JOURNAL_MS_MAX) rmSync(path, { force: true });
      else if (of === hash) found.set(emitter, [...(found.get(emitter) ?? []), { path, from: Number(from) }]);
    }
    return [...found].map(([emitter, files]) => {
      const paths = files.toSorted((a, b) => a.from - b.from).map(({ path }) => path);
      return new AbandonedJournal(emitter, paths);
    });
  }
}

/** None for an unreadable directory: the first event to be written reports why. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function close({ file }: Segment): void {
  try {
    closeSync(file);
  } catch {
    // Its lines have been written already.
  }
}

function discard({ path }: Segment): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next start sends its events again, which changes nothing.
  }
}

/** An id equal to our own is ours, so the journal's process has ended. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}
