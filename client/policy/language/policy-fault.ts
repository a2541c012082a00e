import { FAULTS_MAX } from './limits.ts';

/** An error in a policy text. Line and column count from 1; columns count UTF-16 units, as editors do. */
export type PolicyFault = { line: number; column: number; message: string };

/** Collects the faults of one text by offset. */
export class FaultList {
  readonly #faults: { offset: number; message: string }[] = [];
  readonly #offsets = new Set<number>();

  get size(): number {
    return this.#faults.length;
  }

  add(offset: number, message: string): void {
    this.#faults.push({ offset, message });
    this.#offsets.add(offset);
  }

  hasFaultAt(offset: number): boolean {
    return this.#offsets.has(offset);
  }

  sorted(text: string): PolicyFault[] {
    const all = this.#faults.toSorted((a, b) => a.offset - b.offset || compareText(a.message, b.message));
    const inOrder = all.slice(0, FAULTS_MAX);
    const beyond = all[FAULTS_MAX];
    if (beyond !== undefined) {
      inOrder.push({
        offset: beyond.offset,
        message: `and ${all.length - FAULTS_MAX} more errors from here on`,
      });
    }
    const faults: PolicyFault[] = [];
    let line = 1;
    let lineStart = 0;
    for (const { offset, message } of inOrder) {
      let lineEnd = text.indexOf('\n', lineStart);
      while (lineEnd !== -1 && lineEnd < offset) {
        line += 1;
        lineStart = lineEnd + 1;
        lineEnd = text.indexOf('\n', lineStart);
      }
      faults.push({ line, column: offset - lineStart + 1, message });
    }
    return faults;
  }
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
