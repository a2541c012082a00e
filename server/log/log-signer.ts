import {
  base64From,
  checkpointBody,
  isKeyName,
  signatureLine,
  type TreeHead,
  type VerifierKey,
  verifierKeyFrom,
} from '../../client/proof/index.ts';
import { RequestError } from '../errors.ts';
import type { LogKey } from '../keys/log-key.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { claim } from '../store/claim.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';

type LogSignerOptions = {
  logKey: LogKey;
  store: BoundedStore;
  /** Entries are missing, so a signature could contradict an earlier one. */
  isDamaged?: boolean;
  mutex: KeyedMutex;
  now: () => number;
};

/** The name of the log of a project, and of its key. */
export function originOf(projectId: string): string {
  return `gatehouse/${projectId}`;
}

/**
 * Signs the checkpoints of the logs of one store. All its services must sign with one key. The first one that signs claims it for the
 * store, and a service with another key signs nothing, so that no log has two histories of signatures.
 */
export class LogSigner {
  readonly #options: LogSignerOptions;
  #claimed: Promise<void> | undefined;

  constructor(options: LogSignerOptions) {
    this.#options = options;
  }

  /** The key that verifies the checkpoints of a project. Rejects with log_key_mismatch, or if the store is unavailable. */
  async verifierKey(projectId: string): Promise<VerifierKey> {
    await this.#claim();
    return this.#keyOf(projectId);
  }

  /** Throws if nothing may be signed, because entries are missing. */
  requireWhole(): void {
    if (this.#options.isDamaged !== true) return;
    const detail = 'Files of the log are damaged. Nothing is signed until they are restored';
    throw new RequestError('store_unavailable', detail);
  }

  /** The signed checkpoint as text, always the same for one head. Rejects like `verifierKey`. */
  async sign(head: TreeHead, projectId: string): Promise<string> {
    await this.#claim();
    const body = checkpointBody(head);
    const { name, keyId } = this.#keyOf(projectId);
    return `${body}\n${signatureLine({ name, keyId, signature: this.#options.logKey.sign(body) })}`;
  }

  /** Why this service cannot sign: the logs of the store are signed with another key. Rejects if the store is unavailable. */
  async fault(): Promise<RequestError | undefined> {
    const known = await this.#find();
    return known === undefined || known === this.#publicKey ? undefined : mismatch(known, this.#publicKey);
  }

  get #publicKey(): string {
    return base64From(this.#options.logKey.publicKey);
  }

  #keyOf(projectId: string): VerifierKey {
    const name = originOf(projectId);
    if (!isKeyName(name))
      throw new RequestError(
        'not_found',
        'There is no such project: an id has no spaces, control characters or "+"',
      );
    return verifierKeyFrom({ name, type: 'ed25519', publicKey: this.#options.logKey.publicKey });
  }

  #claim(): Promise<void> {
    this.#claimed ??= this.#claimNow().catch((error: unknown) => {
      this.#claimed = undefined;
      throw error;
    });
    return this.#claimed;
  }

  async #claimNow(): Promise<void> {
    const { store, mutex, now } = this.#options;
    const holder = await claim(mutex, 'log key', {
      find: () => this.#find(),
      write: (token) => {
        const values = { accepted_at: clickhouseTime(now()), public_key: this.#publicKey };
        return store.append({ table: 'log_keys', values, token });
      },
    });
    if (holder !== this.#publicKey) throw mismatch(holder, this.#publicKey);
  }

  async #find(): Promise<string | undefined> {
    const [row] = await this.#options.store.query<{ public_key: string }>(sql('log_key'));
    return row?.public_key;
  }
}

/** Public keys are not secret. */
function mismatch(known: string, own: string): RequestError {
  return new RequestError(
    'log_key_mismatch',
    `The logs of this store are signed with the key ${known}, and this service has the key ${own}. ` +
      'It signs nothing until it has the first one: set GATE_LOG_KEY, or copy log-key.pem into its data directory',
  );
}
