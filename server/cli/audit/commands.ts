import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../command-error.ts';
import { withFileFaults } from '../file-faults.ts';
import type { Options } from '../options.ts';
import { mirrorLog } from './mirror.ts';
import { type Report, reportOf } from './report.ts';
import { verifyFiles } from './verify-files.ts';
import { verifyOnline } from './verify-online.ts';

/** `audit verify`: checks the files that the options name, or the answers of a running service. */
export function auditVerify(
  projectId: string,
  options: Options,
  wait: (ms: number) => Promise<unknown> = sleep,
): Promise<Report> {
  return withFileFaults({}, async () => {
    requireFiles(options);
    const { url, vkey, state: statePath, receipts: receiptsPath } = options;
    const shared = { vkey, statePath, receiptsPath };
    if (url !== undefined) {
      const ofFiles = (['export', 'proofs', 'log', 'at'] as const).filter(
        (name) => options[name] !== undefined,
      );
      if (ofFiles.length > 0)
        throw new CommandError(`--url fetches what it verifies: leave out --${ofFiles.join(' and --')}.`);
      const source = { url, projectId, bearer: bearerOf(options) };
      return reportOf(await verifyOnline({ source, wait, ...shared }));
    }
    const { export: exported, proofs, log, at } = options;
    if (exported === undefined || proofs === undefined || log === undefined)
      throw new CommandError('Give either --url URL, or --export FILE, --proofs FILE and --log DIRECTORY.');
    const files = { export: exported, proofs };
    return reportOf(verifyFiles({ projectId, files, log, atMs: timeOf(at), ...shared }));
  });
}

/** `audit mirror` */
export function auditMirror(projectId: string, options: Options): Promise<Report> {
  return withFileFaults({}, () => {
    const { url, vkey, to } = options;
    if (url === undefined || to === undefined) throw new CommandError('Give --url URL and --to DIRECTORY.');
    return mirrorLog({ source: { url, projectId, bearer: bearerOf(options) }, to, vkey });
  });
}

/** Anyone who lists processes can read a key on a command line, and npm prints it. */
function bearerOf({ bearer }: Options): string | undefined {
  return bearer ?? (process.env['GATE_API_KEY'] || undefined);
}

/** The error of reading from a directory names no path. */
function requireFiles(options: Options): void {
  for (const name of ['export', 'proofs', 'state', 'receipts'] as const) {
    const path = options[name];
    if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
      throw new CommandError(`--${name} takes a file, and ${path} is a directory.`);
  }
}

function timeOf(at: string | undefined): number | undefined {
  if (at === undefined) return undefined;
  const ms = Date.parse(at);
  if (Number.isNaN(ms))
    throw new CommandError(`--at must be a time such as 2026-11-22T03:00:00Z, not "${at}".`);
  return ms;
}
