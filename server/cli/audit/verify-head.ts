import * as proof from '../../../client/proof/index.ts';
import { CommandError } from '../command-error.ts';
import { type CheckedTree, checkTree } from './check-tree.ts';
import type { Findings } from './findings.ts';
import { BrokenLogError, type LogDirectory } from './log-directory.ts';
import { Progress } from './progress.ts';

/**
 * The checkpoint of a project, signed by its key. Undefined, with a finding, if the key did not sign it. Throws a CommandError for a
 * malformed key.
 */
export function readHead(
  text: string,
  { vkey, projectId }: { vkey: string; projectId: string },
  findings: Findings,
): proof.Checkpoint | undefined {
  const key = verifierKeyOf(vkey);
  const origin = `gatehouse/${projectId}`;
  try {
    if (key.name !== origin) throw new proof.ProofError(`The key is of ${key.name}, not of ${origin}`);
    return proof.verifyCheckpoint(text, key);
  } catch (error) {
    if (!(error instanceof proof.ProofError)) throw error;
    findings.add('signature_invalid', error.message);
    return undefined;
  }
}

function verifierKeyOf(vkey: string): proof.VerifierKey {
  try {
    const key = proof.parseVerifierKey(vkey);
    if (key.type !== 'ed25519') throw new proof.ProofError('It is the key of a witness, not of a log');
    return key;
  } catch (error) {
    throw new CommandError(`${JSON.stringify(vkey)} is not a verifier key: ${(error as Error).message}`);
  }
}

type Heads = { head: proof.TreeHead; earlier: proof.TreeHead | undefined; findings: Findings };

/**
 * Checks whether the log has the head and extends its head of an earlier visit. Undefined, with a finding, if its tiles do not add up to
 * the head.
 */
export function checkHistory(
  log: LogDirectory,
  { wanted = new Set(), ...heads }: Heads & { wanted?: ReadonlySet<string> },
): CheckedTree | undefined {
  const { head, earlier, findings } = heads;
  try {
    const progress = new Progress('Checked leaves');
    const tree = checkTree(log, { head, earlierSize: earlier?.size ?? 0, wanted, progress });
    compareHistory(tree, heads);
    return tree;
  } catch (error) {
    if (!(error instanceof BrokenLogError)) throw error;
    findings.add('history_rewritten', error.message);
    return undefined;
  }
}

function compareHistory(tree: CheckedTree, { head, earlier, findings }: Heads): void {
  if (earlier === undefined) return;
  if (earlier.size > head.size)
    findings.add('history_rewritten', `the log has ${head.size} entries, and had ${earlier.size} before`);
  else if (!tree.earlierRoot.equals(earlier.root))
    findings.add(
      'history_rewritten',
      `the first ${earlier.size} entries are not those that were seen before`,
    );
}
