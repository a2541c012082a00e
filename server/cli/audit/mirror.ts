import { existsSync, globSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../../make-directory.ts';
import * as proof from '../../../client/proof/index.ts';
import { CommandError } from '../command-error.ts';
import { Findings } from './findings.ts';
import { fetchBytes, fetchText, type Source } from './http-source.ts';
import { ENTRY_BYTES, LogDirectory } from './log-directory.ts';
import { Progress } from './progress.ts';
import { replaceFile } from '../../durable-files.ts';
import { Report, verdictOf } from './report.ts';
import { checkHistory, readHead } from './verify-head.ts';

const FETCHES_AT_ONCE = 8;

type Mirror = { source: Source; to: string; vkey?: string | undefined };

/**
 * Fetches the parts of a log that a mirrored directory lacks: docs/proof.md, "Mirrored directory". A checkpoint that contradicts the
 * previous one is kept next to it, as `checkpoint.refused`.
 */
export async function mirrorLog({ source, to, vkey }: Mirror): Promise<Report> {
  const findings = new Findings();
  makeDirectory(to);
  const key = await keyOf({ source, to, vkey });
  const { projectId } = source;
  const earlier = readEarlier(to, { vkey: key, projectId });
  const text = await fetchText(source, 'log/checkpoint');
  const head = readHead(text, { vkey: key, projectId }, findings);
  const fetched = head === undefined ? [] : await fetchTiles(source, { to, size: head.size });
  if (head !== undefined) checkHistory(new LogDirectory(to), { head, earlier, findings });
  const { verdict, exitCode } = verdictOf(findings);
  if (exitCode === 0 && head !== undefined) {
    replaceFile(join(to, 'keys.json'), await fetchText(source, '/v1/.well-known/keys'));
    if (earlier !== undefined)
      replaceFile(join(to, 'checkpoint.before'), readFileSync(join(to, 'checkpoint')));
    replaceFile(join(to, 'checkpoint'), text);
    if (earlier !== undefined) removeNarrower(to, earlier.size, head.size);
  } else {
    if (head !== undefined) removeUnverified(to, earlier?.size ?? 0);
    if (head !== undefined && earlier !== undefined) requireWhole(to, earlier);
    replaceFile(join(to, 'checkpoint.refused'), text);
  }
  const data = {
    project_id: projectId,
    verdict,
    exit_code: exitCode,
    tree_size: head?.size ?? 0,
    tree_size_before: earlier?.size ?? 0,
    fetched: fetched.length,
    problems: findings.problems,
  };
  const evidence = `Verdict: ${verdict.replaceAll('_', ' ')}. ${join(to, 'checkpoint.refused')} is the evidence.`;
  const holds = `${to} holds the log up to size ${data.tree_size} (${data.tree_size_before} before). Files fetched: ${data.fetched}.`;
  const words = exitCode === 0 ? holds : [evidence, ...data.problems].join('\n');
  return new Report(data, { text: words, exitCode });
}

async function keyOf({ source, to, vkey }: Mirror): Promise<string> {
  const path = join(to, 'vkey');
  const wasThere = existsSync(path);
  if (!wasThere) replaceFile(path, `${vkey ?? (await fetchText(source, 'log/vkey')).trim()}\n`);
  const kept = readFileSync(path, 'utf8').trim();
  const [name] = kept.split('+');
  if (wasThere && name !== `gatehouse/${source.projectId}`)
    throw new CommandError(
      `${path} is the key of ${name}, not of this project's log. Mirror into a new directory.`,
    );
  if (vkey !== undefined && vkey !== kept)
    throw new CommandError(`${path} holds another key than --vkey. Mirror into a new directory.`);
  return kept;
}

/** The checkpoint of the last run. A file without the key's signature was damaged here: no run stores one. */
function readEarlier(to: string, key: { vkey: string; projectId: string }): proof.Checkpoint | undefined {
  const path = join(to, 'checkpoint');
  if (!existsSync(path)) return undefined;
  const findings = new Findings();
  const earlier = readHead(readFileSync(path, 'utf8'), key, findings);
  if (earlier === undefined) throw damaged(path, findings.problems.join('; '));
  return earlier;
}

/** Throws a CommandError unless the tiles add up to the checkpoint of the last run: a damaged copy proves nothing against the service. */
function requireWhole(to: string, earlier: proof.Checkpoint): void {
  const findings = new Findings();
  checkHistory(new LogDirectory(to), { head: earlier, earlier: undefined, findings });
  if (findings.problems.length > 0) throw damaged(to, findings.problems.join('; '));
}

function damaged(path: string, problems: string): CommandError {
  return new CommandError(`${path} is damaged: ${problems}. Mirror into a new directory.`);
}

/**
 * Fetches all tiles and entry bundles that are missing or incomplete, and returns their paths. Stops at the first one that the log lacks. A
 * tile of the wrong length counts as missing: it may be an error page of a proxy.
 */
export async function fetchTiles(
  source: Source,
  { to, size }: { to: string; size: number },
): Promise<string[]> {
  const progress = new Progress('Fetched tiles');
  const fetched: string[] = [];
  const missing = filesOfTree(size).filter(
    ({ name, length }) => statSync(join(to, name), { throwIfNoEntry: false })?.size !== length,
  );
  let isWhole = true;
  const worker = async () => {
    for (const { name, length } of missing) {
      const bytes = isWhole ? await fetchBytes(source, `log/${name}`, length) : undefined;
      if (bytes?.length !== length) isWhole = false;
      if (bytes === undefined || !isWhole) return;
      const path = join(to, name);
      makeDirectory(dirname(path));
      replaceFile(path, bytes);
      progress.report(fetched.push(path));
    }
  };
  await Promise.all(Array.from({ length: FETCHES_AT_ONCE }, worker));
  return fetched;
}

type TileFile = { name: string; length: number };

function filesOfTree(size: number): IteratorObject<TileFile> {
  return proof.tilesOfTree(size).flatMap(filesOfTile);
}

function filesOfTile(tile: proof.Tile): TileFile[] {
  const hashes = { name: proof.tilePath(tile), length: tile.width * proof.HASH_BYTES };
  const entries = { name: proof.bundlePath(tile), length: tile.width * ENTRY_BYTES };
  return tile.level === 0 ? [hashes, entries] : [hashes];
}

/**
 * Removes files that the tree of the previous checkpoint does not have: fetched now, or by an interrupted run. Looks at what is there, because
 * the refused checkpoint may have any size.
 */
function removeUnverified(to: string, earlierSize: number): void {
  const verified = new Set(filesOfTree(earlierSize).map(({ name }) => name));
  for (const name of globSync('tile/**', { cwd: to })) {
    const path = join(to, name);
    if (!verified.has(name) && statSync(path).isFile()) rmSync(path);
  }
}

/** Removes the partial tiles that wider ones of the larger log replace. */
function removeNarrower(to: string, earlierSize: number, size: number): void {
  for (const tile of proof.tilesOfTree(earlierSize)) {
    if (tile.width === proof.TILE_WIDTH || tile.width === proof.tileWidth(size, tile)) continue;
    for (const { name } of filesOfTile(tile)) {
      rmSync(join(to, name), { force: true });
      removeIfEmpty(dirname(join(to, name)));
    }
  }
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
}
