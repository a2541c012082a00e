import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { RootKeys } from '../keys/root-keys.ts';
import {
  installNextKey,
  makeNextKey,
  nextKeyFileOf,
  nextKeyFilesIn,
  readNextKey,
  type SigningKeys,
} from '../keys/signing-keys.ts';
import { ROOT_KEYS_AGE_MS_MAX } from '../limits.ts';
import { StoreInUseError } from '../store/open-faults.ts';
import { type Admin, openAdmin } from './admin.ts';
import { CommandError } from './command-error.ts';
import { showProgress } from './transfer.ts';

/** Other processes on the store may see a rotation one read later than ROOT_KEYS_AGE_MS_MAX. */
const PUBLISHED_AFTER_MS = 2 * ROOT_KEYS_AGE_MS_MAX;

const PROGRESS_EVERY = 100;

/**
 * Replaces the root key: creates the new one, records that the old one vouches for it, signs the latest version of every agent again, and
 * then puts it in place. Each step can be repeated, so an interrupted rotation is resumed.
 */
export async function rotateRootKey(config: Config): Promise<unknown> {
  const admin = await open(config);
  try {
    const rootKeys = admin.rootKeys();
    const old = rootKeys.current;
    const next = await nextKey(rootKeys, config);
    // Clients must find the succession before they receive a bundle signed with the new key.
    if (admin.storeKind === 'server') await sleep(PUBLISHED_AFTER_MS);
    // Its own key was recorded, so of two rotations at the same time at least one sees both and stops.
    await successorOf(rootKeys);
    const agents = await signAll(admin, next);
    if (config.signingKey === undefined) installNextKey(config.dataDir, next.kid);
    return { kid: next.kid, previous_kid: old.kid, ...agents, next_step: nextStep(config, next.kid) };
  } finally {
    await admin.close();
  }
}

async function open(config: Config): Promise<Admin> {
  try {
    return await openAdmin(config);
  } catch (error) {
    if (!(error instanceof StoreInUseError)) throw error;
    throw new CommandError(
      `The service uses the embedded store in ${config.dataDir}. Stop it, run "key rotate" again, and start it: ` +
        'clients keep their policies meanwhile.',
    );
  }
}

/** The key of an interrupted rotation, or a new one that the current key vouches for. */
async function nextKey(rootKeys: RootKeys, { dataDir }: Config): Promise<SigningKeys> {
  const { kid: current } = rootKeys.current;
  const successor = await successorOf(rootKeys);
  if (successor !== undefined) {
    const key = await readNextKey(dataDir, successor);
    if (key !== undefined) return key;
    throw new CommandError(
      `The root key ${current} was replaced by ${successor}, whose file is not in ${dataDir} any more. Set GATE_SIGNING_KEY ` +
        `to that key. If it is lost, run "key forget --key ${successor}" and rotate again.`,
    );
  }
  const next = await makeNextKey(dataDir);
  await rootKeys.recordRotation(next);
  await showUnusedKeys(rootKeys, dataDir);
  return next;
}

/** The kid of the key that replaced the current one; undefined if it was not replaced. */
async function successorOf(rootKeys: RootKeys): Promise<string | undefined> {
  const [kid, other] = await rootKeys.successors();
  if (other === undefined) return kid;
  throw new CommandError(
    `Two rotations ran at the same time: the root key ${rootKeys.current.kid} was replaced by ${kid} and by ${other}. ` +
      'Run "key forget --key KID" for one that no service uses, and rotate again.',
  );
}

/** A rotation that was killed before it recorded its key has left a file that no rotation will use. */
async function showUnusedKeys(rootKeys: RootKeys, dataDir: string): Promise<void> {
  const rotations = await rootKeys.rotations();
  const used = new Set(rotations.flatMap(({ kid, previous_kid }) => [kid, previous_kid]));
  for (const { kid, path } of nextKeyFilesIn(dataDir))
    if (!used.has(kid))
      showProgress(`${path} belongs to no rotation: an interrupted one left it. Delete the file.`);
}

async function signAll(
  { agentsSignedBy }: Admin,
  next: SigningKeys,
): Promise<{ agents_signed: number; agents_left: number }> {
  const { store, saver } = agentsSignedBy(next);
  const counts = { agents_signed: 0, agents_left: 0 };
  const agents = await store.all();
  for (const [index, { project_id, agent_name }] of agents.entries()) {
    if (index % PROGRESS_EVERY === 0 && index > 0) showProgress(`${index} of ${agents.length} agents`);
    const version = await saver.sign(project_id, agent_name);
    if (version === undefined || version.bundle_manifest === '') continue;
    const isSigned = (JSON.parse(version.bundle_manifest) as { kid: string }).kid === next.kid;
    counts[isSigned ? 'agents_signed' : 'agents_left'] += 1;
    if (isSigned) continue;
    showProgress(
      `The bundle of ${agent_name} in project ${project_id} was not signed again: no trusted key signed what is stored. Save the agent.`,
    );
  }
  return counts;
}

function nextStep({ signingKey, dataDir, clickhouse }: Config, kid: string): string {
  const restart = clickhouse === undefined ? 'start the service' : 'restart the services one by one';
  if (signingKey === undefined) return `The new key is in place: ${restart}.`;
  return (
    `Set GATE_SIGNING_KEY to the key in ${nextKeyFileOf(dataDir, kid)} (its path, or its seed: openssl pkey -in FILE ` +
    `-outform DER | tail -c 32 | base64) for every service, ${restart}, and move the file to a safe place.`
  );
}
