import type { Decision, PolicyEngine } from '../../client/policy/language/index.ts';
import type { Outcome } from '../ingest/decision-event.ts';

/** A row of decisions_to_replay.sql. `arguments` is JSON text. */
type RecordedRow = [tool_name: string, role: string, outcome: Outcome, arguments_: string, event_id: string];
type Change = { tool: string; role: string; from: Outcome; to: Outcome; count: number; samples: string[] };

const SAMPLES_MAX = 5;

/** Decides recorded decisions again by another policy and counts what it would have changed. */
export class Replay {
  readonly #engine: PolicyEngine;
  readonly #changes = new Map<string, Change>();
  readonly #counts = { examined: 0, replayed: 0, not_replayable: 0, changed: 0 };

  constructor(engine: PolicyEngine) {
    this.#engine = engine;
  }

  addRows(lines: Uint8Array): void {
    for (const line of linesOf(Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength)))
      this.#add(JSON.parse(line) as RecordedRow);
  }

  result() {
    return { ...this.#counts, changes: [...this.#changes.values()].sort((a, b) => b.count - a.count) };
  }

  #add(row: RecordedRow): void {
    this.#counts.examined += 1;
    if (!isReplayable(row)) {
      this.#counts.not_replayable += 1;
      return;
    }
    this.#counts.replayed += 1;
    const { outcome } = JSON.parse(this.#engine.decideText(callText(row))) as Decision;
    if (outcome === row[2]) return;
    this.#counts.changed += 1;
    this.#addChange(row, outcome);
  }

  #addChange([tool, role, from, , event_id]: RecordedRow, to: Outcome): void {
    const key = JSON.stringify([tool, role, from, to]);
    const change = this.#changes.get(key) ?? { tool, role, from, to, count: 0, samples: [] };
    change.count += 1;
    if (change.samples.length < SAMPLES_MAX) change.samples.push(event_id);
    this.#changes.set(key, change);
  }
}

function* linesOf(bytes: Buffer): Generator<string> {
  for (let start = 0, end = bytes.indexOf(10); end >= 0; start = end + 1, end = bytes.indexOf(10, start))
    yield bytes.toString('utf8', start, end);
}

/** A decision whose arguments were truncated or redacted before they were sent cannot be decided again. */
function isReplayable([, , , text]: RecordedRow): boolean {
  return !text.includes('"[REDACTED]"') && !text.startsWith('{"_truncated":true,');
}

/** Built from the stored text, so that every number keeps its digits. */
function callText([tool, role, , text]: RecordedRow): string {
  const head = JSON.stringify({ tool, ...(role === '' ? {} : { role }) });
  return `${head.slice(0, -1)},"arguments":${text || 'null'}}`;
}
