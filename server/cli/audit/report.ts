import { EXIT_CODES, type Findings } from './findings.ts';
import type { ReceiptCounts } from './receipts.ts';

/** The result of a verification. */
export type Result = {
  projectId: string;
  size: number;
  counts: {
    checked: number;
    altered: number;
    missing: number;
    added: number;
    too_new: number;
    expired: number;
  };
  receipts: ReceiptCounts | null;
  hasReceipts: boolean;
  /** There were no keys to verify the signatures of receipts with. */
  areReceiptsUnsigned: boolean;
  pinned: { logKey: boolean; history: boolean };
  findings: Findings;
};

/** The output of a command, as text and as data, and its exit code. */
export class Report {
  readonly data: Record<string, unknown>;
  readonly text: string;
  readonly exitCode: number;
  /** Text that is not part of the data. */
  readonly hint: string | undefined;

  constructor(
    data: Record<string, unknown>,
    { text, exitCode, hint }: { text: string; exitCode: number; hint?: string | undefined },
  ) {
    this.data = data;
    this.text = text;
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

const NOTHING_TO_VERIFY =
  'There is nothing to verify: an empty project looks like one that does not exist. Is its id right?';

/** The report of docs/proof.md, "The report". */
export function reportOf(result: Result): Report {
  const { projectId, size, counts, receipts, findings } = result;
  const { verdict, exitCode } = verdictOf(findings);
  const trust = trustOf(result);
  const data = {
    project_id: projectId,
    verdict,
    exit_code: exitCode,
    verdicts: findings.verdicts,
    tree_size: size,
    ...counts,
    receipts,
    ...trust,
    problems: findings.problems,
  };
  const isEmpty = verdict === 'holds' && size === 0 && counts.checked === 0;
  const hint = isEmpty ? NOTHING_TO_VERIFY : undefined;
  return new Report(data, { text: wordsOf(result, { verdict, trust, hint }), exitCode, hint });
}

export function verdictOf(findings: Findings): { verdict: string; exitCode: number } {
  const highest = findings.verdicts.at(-1);
  return { verdict: highest ?? 'holds', exitCode: highest === undefined ? 0 : EXIT_CODES[highest] };
}

type Trust = { pinned: string[]; trusted_on_first_use: string[] };

function trustOf({ pinned, hasReceipts }: Result): Trust {
  const anchors = {
    'log key': pinned.logKey,
    history: pinned.history,
    ...(hasReceipts ? { 'root keys': false } : {}),
  };
  const names = (isPinned: boolean) =>
    Object.entries(anchors).flatMap(([name, value]) => (value === isPinned ? [name] : []));
  return { pinned: names(true), trusted_on_first_use: names(false) };
}

const number = (value: number): string => value.toLocaleString('en');

type Words = { verdict: string; trust: Trust; hint: string | undefined };

function wordsOf(result: Result, { verdict, trust, hint }: Words): string {
  const { size, counts, receipts, areReceiptsUnsigned, findings } = result;
  const { checked, altered, missing, added, too_new, expired } = counts;
  const lines = [
    `Verdict: ${verdict.replaceAll('_', ' ')}.`,
    `Size of the log: ${number(size)}.`,
    `Records: ${number(checked)} checked, ${number(altered)} altered, ${number(missing)} missing, ${number(added)} added, ` +
      `${number(too_new)} too new to tell, ${number(expired)} expired.`,
  ];
  if (receipts !== null)
    lines.push(
      `Receipts: ${number(receipts.checked)} checked, ${number(receipts.missing)} missing from the log, ` +
        `${number(receipts.too_new)} too new, ${number(receipts.invalid)} with a signature that does not hold.`,
    );
  if (hint !== undefined) lines.push(hint);
  if (areReceiptsUnsigned)
    lines.push('The log directory has no keys.json, so no signature of a receipt was checked.');
  lines.push(`Pinned: ${trust.pinned.join(', ') || 'nothing'}.`);
  lines.push(`Trusted on first use: ${trust.trusted_on_first_use.join(', ') || 'nothing'}.`);
  return [...lines, ...findings.problems.map((problem) => `- ${problem}`)].join('\n');
}
