import { visible } from '../../../client/visible.ts';

/** The verdicts that are not "holds", in the order of their exit codes. */
export const EXIT_CODES = {
  altered: 10,
  missing: 11,
  added: 12,
  history_rewritten: 13,
  signature_invalid: 14,
} as const;

export type Verdict = keyof typeof EXIT_CODES;
const VERDICTS = Object.keys(EXIT_CODES) as Verdict[];

const PROBLEMS_MAX = 20;

/** The findings of a verification: its verdicts, and the first problems of each. */
export class Findings {
  readonly #problems = new Map<Verdict, string[]>();

  add(verdict: Verdict, problem: string): void {
    const problems = this.#problems.get(verdict) ?? [];
    if (problems.length < PROBLEMS_MAX) problems.push(`${verdict}: ${oneLine(problem)}`);
    this.#problems.set(verdict, problems);
  }

  get verdicts(): Verdict[] {
    return VERDICTS.filter((verdict) => this.#problems.has(verdict));
  }

  get problems(): string[] {
    return this.verdicts.flatMap((verdict) => this.#problems.get(verdict) ?? []);
  }
}

/** A problem quotes what may be hostile, and must not look like another line of the report. */
function oneLine(problem: string): string {
  return visible(problem).replaceAll('\n', '\\n');
}
