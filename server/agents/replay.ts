import type { Decision, Outcome, PolicyEngine } from '../../client/policy/language/index.ts';

/** A row of decisions_to_replay.sql. `arguments` is JSON text. */
type RecordedRow = [tool_name: string, role: string, outcome: Outcome, arguments_: string, event_id: string];
type Change = { tool: string; role: string; from: Outcome; to: Outcome; count: number; samples: string[] };
type Engines = {
  draft: PolicyEngine;
  /** Decides with the saved policy; null if there is none to compare with. */
  current: PolicyEngine | null;
};

const SAMPLES_MAX = 5;

/** Decides recorded decisions again with a draft. Counts what differs from the records and from the decisions of the saved policy. */
export class Replay {
  readonly #engines: Engines;
  readonly #counts = { examined: 0, replayed: 0, not_replayable: 0 };
  readonly #fromRecorded = new Changes();
  readonly #fromCurrent = new Changes();

  constructor(engines: Engines) {
    this.#engines = engines;
  }

  addRows(lines: Uint8Array): void {
    for (const line of new TextDecoder().decode(lines).split('\n'))
      if (line !== '') this.#add(JSON.parse(line) as RecordedRow);
  }

  result() {
    const current = this.#engines.current === null ? null : this.#fromCurrent.result();
    return { ...this.#counts, ...this.#fromRecorded.result(), current };
  }

  #add(row: RecordedRow): void {
    this.#counts.examined += 1;
    if (!isReplayable(row)) {
      this.#counts.not_replayable += 1;
      return;
    }
    this.#counts.replayed += 1;
    const { draft, current } = this.#engines;
    const call = callText(row);
    const to = outcomeOf(draft, call);
    this.#fromRecorded.add(row, row[2], to);
    // Both use one engine if their texts are the same.
    if (current !== null && current !== draft) this.#fromCurrent.add(row, outcomeOf(current, call), to);
  }
}

/** Counts calls whose outcome changes, by tool, role and outcomes. */
class Changes {
  readonly #byKind = new Map<string, Change>();
  #changed = 0;

  add([tool, role, , , event_id]: RecordedRow, from: Outcome, to: Outcome): void {
    if (from === to) return;
    this.#changed += 1;
    const key = JSON.stringify([tool, role, from, to]);
    const change = this.#byKind.get(key) ?? { tool, role, from, to, count: 0, samples: [] };
    change.count += 1;
    if (change.samples.length < SAMPLES_MAX) change.samples.push(event_id);
    this.#byKind.set(key, change);
  }

  result() {
    const changes = [...this.#byKind.values()].sort((a, b) => b.count - a.count);
    return { changed: this.#changed, changes };
  }
}

function outcomeOf(engine: PolicyEngine, call: string): Outcome {
  return (JSON.parse(engine.decideText(call)) as Decision).outcome;
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
