import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';
import { BoundedQueue } from '../bounded-queue.ts';

// OWASP's password storage recommendation for scrypt: N = 2^15, r = 8, p = 3; 32 MiB and about 0.2 s each.
const COST = { ln: 15, r: 8, p: 3 };
const HASH_BYTES = 32;
const SALT_BYTES = 16;
const PHC = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

type Cost = typeof COST;
const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Registrations wait for all other work. */
export const BEHIND_LOGINS = -2;

/** What work may do in its turn: call one of the two, once. */
export type Hashing = {
  hash(password: string): Promise<string>;
  /** Does the same work for an account that does not exist (`stored` undefined) or has no password (''). */
  matches(password: string, stored: string | undefined): Promise<boolean>;
};

/** Hashes and compares passwords, a few at a time because each uses a CPU and much memory. */
export class Passwords {
  readonly #queue: BoundedQueue;
  /** Used for comparison if the account does not exist, so that the time taken is the same. */
  readonly #decoy = phcText(COST, { salt: randomBytes(SALT_BYTES), hash: randomBytes(HASH_BYTES) });
  readonly #hashing: Hashing = {
    hash: async (password) => {
      const salt = randomBytes(SALT_BYTES);
      return phcText(COST, { salt, hash: await scryptOf(password, salt, COST) });
    },
    matches: async (password, stored) => {
      const { cost, salt, hash } = parsePhc(stored || this.#decoy);
      const isEqual = timingSafeEqual(await scryptOf(password, salt, cost), hash);
      return isEqual && Boolean(stored);
    },
  };

  constructor(limits: { runningMax: number; waitingMax: number; waitMsMax: number }) {
    this.#queue = new BoundedQueue({ ...limits, yields: true });
  }

  /**
   * Runs work with a password when its turn comes, the highest priority first. This also bounds its statements. Rejects with `overloaded`.
   */
  run<T>(work: (hashing: Hashing) => Promise<T>, priority = 0): Promise<T> {
    return this.#queue.run(() => work(this.#hashing), { priority });
  }
}

/** NFKC, because two keyboards may send different code points for one password (NIST SP 800-63B section 3.1.1.2). */
function scryptOf(password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> {
  const N = 2 ** ln;
  return derive(password.normalize('NFKC'), salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r });
}

/** The PHC string format stores the costs with the hash, so that they can be raised later. */
function phcText({ ln, r, p }: Cost, { salt, hash }: { salt: Buffer; hash: Buffer }): string {
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=${ln},r=${r},p=${p}$${text(salt)}$${text(hash)}`;
}

function parsePhc(text: string): { cost: Cost; salt: Buffer; hash: Buffer } {
  const [, ln, r, p, salt = '', hash = ''] = PHC.exec(text) ?? [];
  if (ln === undefined) throw new Error('A stored password hash is not a PHC string of scrypt');
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  return { cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}
