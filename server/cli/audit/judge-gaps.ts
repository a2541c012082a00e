import { type AuditorState, hasExpiredEarly } from './auditor-state.ts';
import type { Findings } from './findings.ts';
import type { Gap, Holders } from './holders.ts';
import { GRACE_MS } from './times.ts';

type JudgeGaps = {
  /** When the oldest record that may still be alive occurred. */
  oldestMs: number;
  state: Pick<AuditorState, 'seen' | 'late'>;
  findings: Findings;
};

/** Which of the indexes without a record have expired, and which are missing (docs/proof.md, "Verdicts", step 5). */
export function judgeGaps(holders: Holders, options: JudgeGaps): { missing: number; expired: number } {
  const counts = { missing: 0, expired: 0 };
  for (const gap of holders.gaps()) {
    const missing = missingIn(gap, options);
    counts.missing += missing.length;
    counts.expired += gap.to - gap.from - missing.length;
    const [first, last] = [missing[0], missing.at(-1)];
    if (first === last && first !== undefined)
      options.findings.add('missing', `no record holds the index ${first}`);
    else if (first !== undefined)
      options.findings.add('missing', `${missing.length} indexes from ${first} to ${last} have no record`);
  }
  return counts;
}

function missingIn({ from, to, afterMs, beforeMs }: Gap, { oldestMs, state }: JudgeGaps): number[] {
  const endMs = oldestMs + GRACE_MS;
  const sizesSeen = (isBefore: boolean) =>
    state.seen.filter(([time]) => Date.parse(time) <= endMs === isBefore).map(([, size]) => size);
  // Indexes below the first were received by the end. Indexes from the second on were received later, whatever time an inserted record
  // claims.
  const [explained, young] = [Math.max(0, ...sizesSeen(true)), Math.min(to, ...sizesSeen(false))];
  const isBetweenOld = Math.max(afterMs, beforeMs) <= endMs;
  const missing: number[] = [];
  for (let index = Math.max(from, explained, isBetweenOld ? young : 0); index < to; index += 1)
    if (!hasExpiredEarly(state, index, oldestMs)) missing.push(index);
  return missing;
}
