import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as proof from '../../../client/proof/index.ts';
import { CommandError } from '../command-error.ts';
import { type AuditorState, nextState, readState, writeState } from './auditor-state.ts';
import { checkRecords, type RecordFiles } from './check-records.ts';
import { Findings } from './findings.ts';
import { judgeGaps } from './judge-gaps.ts';
import { LogDirectory } from './log-directory.ts';
import { Progress } from './progress.ts';
import { judgeReceipts, readReceipts } from './receipts.ts';
import type { Result } from './report.ts';
import { RETENTION_MS } from '../../limits.ts';
import { checkHistory, readHead } from './verify-head.ts';

export type VerifyFiles = {
  projectId: string;
  files: RecordFiles;
  /** A mirrored directory. */
  log: string;
  vkey?: string | undefined;
  statePath?: string | undefined;
  receiptsPath?: string | undefined;
  /** When the export was made, in milliseconds since the epoch; by default when its file was written last. */
  atMs?: number | undefined;
  /** The proofs were fetched so long after the export that each of its records must be in the log. */
  isSettled?: boolean;
};

/** Verifies an export against a mirrored log: docs/proof.md, "Verdicts". Throws a CommandError for files of another kind. */
export function verifyFiles(options: VerifyFiles): Result {
  const { projectId, statePath, receiptsPath } = options;
  const state = statePath === undefined ? undefined : readState(statePath);
  const findings = new Findings();
  const pinned = { logKey: options.vkey !== undefined || state !== undefined, history: state !== undefined };
  const result: Result = {
    projectId,
    size: 0,
    counts: { checked: 0, altered: 0, missing: 0, added: 0, too_new: 0, expired: 0 },
    receipts: null,
    hasReceipts: receiptsPath !== undefined,
    areReceiptsUnsigned: false,
    pinned,
    findings,
  };
  const vkey = options.vkey ?? state?.vkey ?? readText(join(options.log, 'vkey')).trim();
  const head = readHead(readText(join(options.log, 'checkpoint')), { vkey, projectId }, findings);
  result.size = head?.size ?? 0;
  const pathBefore = join(options.log, 'checkpoint.before');
  const before = existsSync(pathBefore)
    ? readHead(readText(pathBefore), { vkey, projectId }, findings)
    : head;
  if (head === undefined || before === undefined) return result;
  const receipts = receiptsPath === undefined ? [] : readReceipts(receiptsPath, projectId, options.log);
  result.areReceiptsUnsigned = receipts.some(({ isSigned }) => isSigned === undefined);
  const earlier = state && readEarlier(state, projectId, findings);
  const log = new LogDirectory(options.log);
  const wanted = new Set(receipts.map(({ leaf }) => leaf));
  const tree = checkHistory(log, { head, earlier: earlier ?? before, wanted, findings });
  if (tree === undefined) return result;
  const atMs = options.atMs ?? statSync(options.files.export).mtimeMs;
  const records = checkRecords(options.files, {
    log,
    size: head.size,
    sizeBefore: Math.max(before.size, earlier?.size ?? 0),
    atMs,
    isSettled: options.isSettled ?? false,
    findings,
    progress: new Progress('Checked records'),
  });
  const oldestMs = Math.min(atMs - RETENTION_MS, records.oldestMs);
  const gaps = judgeGaps(records.holders, { oldestMs, state: state ?? { seen: [], late: [] }, findings });
  Object.assign(result, { counts: { ...records.counts, ...gaps } });
  if (receiptsPath !== undefined)
    result.receipts = judgeReceipts(receipts, {
      found: tree.found,
      latestMs: Math.max(atMs, records.newestMs),
      findings,
    });
  const isHistoryWhole = !findings.verdicts.includes('history_rewritten');
  if (statePath !== undefined && isHistoryWhole) {
    const visit = {
      vkey,
      checkpoint: proof.noteText(head),
      size: head.size,
      nowMs: Date.now(),
      oldestMs,
      late: records.late,
    };
    writeState(statePath, nextState(state, visit));
  }
  return result;
}

function readText(path: string): string {
  if (!existsSync(path))
    throw new CommandError(`${path} does not exist. "audit mirror" makes a log directory.`);
  const bytes = readFileSync(path);
  // Bytes that are not UTF-8 are neither a note nor a key.
  return isUtf8(bytes) ? bytes.toString() : '';
}

/** The last head that the auditor saw. A head without the key's signature is not reliable history. */
function readEarlier(state: AuditorState, projectId: string, findings: Findings): proof.TreeHead | undefined {
  const ofState = new Findings();
  const head = readHead(state.checkpoint, { vkey: state.vkey, projectId }, ofState);
  for (const problem of ofState.problems) findings.add('history_rewritten', `in the state file, ${problem}`);
  return head;
}
