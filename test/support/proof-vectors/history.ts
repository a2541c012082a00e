// A seeded project: its records, and the log that holds them.
import { sign } from 'node:crypto';
import { Random } from '../random.ts';
import { leafOf, privateKeyFrom, publicBytesOf, sha256 } from './log.ts';
import { DAY_MS, MINUTE_MS } from '../../../server/durations.ts';

export const AT_MS = Date.parse('2026-11-22T12:00:00.000Z');
export const PROJECT = '0b9f4ac2-7d55-4c3a-9f0e-5d3a2f6b1c11';
export const ORIGIN = `gatehouse/${PROJECT}`;

const seedOf = (name: string) => sha256(Buffer.from(`gatehouse test vectors: ${name}`));
export const LOG_KEY = privateKeyFrom(seedOf('log key'));
export const OTHER_KEY = privateKeyFrom(seedOf('other key'));
const ROOT_KEY = privateKeyFrom(seedOf('root key'));
const KID = 'root-1';

export type Logged = { line: string; event_id: string; salt: Buffer; received_at: number };

export class History {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.#random.below(256)));
  }

  record({ receivedMs, occurredMs = receivedMs - 40 }: { receivedMs: number; occurredMs?: number }): Logged {
    const event_id = this.#random.uuid();
    const line = JSON.stringify({
      event_id,
      occurred_at: new Date(occurredMs).toISOString(),
      agent_name: 'billing',
      tool_name: this.#random.pick(['refund', 'lookup', 'päyment/€']),
      outcome: this.#random.pick(['allow', 'deny']),
      role: 'clerk',
      error_type: '',
      reason: `rule ${this.#random.below(1000)}`,
      violations: [],
      hint: null,
      arguments: { amount: this.#random.below(100_000) },
      user_id: '',
      session_id: '',
      project_id: PROJECT,
      agent_version_id: '',
      received_at: new Date(receivedMs).toISOString(),
    });
    return { line, event_id, salt: this.bytes(16), received_at: receivedMs };
  }

  /** Records a minute apart; the last one was received five minutes before `at`. */
  young(count: number): Logged[] {
    return Array.from({ length: count }, (_, at) =>
      this.record({ receivedMs: AT_MS - (count - at + 4) * MINUTE_MS }),
    );
  }

  /** Records eight days apart; the oldest expires in a day. */
  old(count: number): Logged[] {
    return Array.from({ length: count }, (_, at) =>
      this.record({ receivedMs: AT_MS - (89 - at * 8) * DAY_MS }),
    );
  }
}

export const entryOf = ({ salt, line }: Logged): Buffer => sha256(salt, Buffer.from(line));
export const leavesOf = (entries: Buffer[]): Buffer[] => entries.map(leafOf);

/** The same record with other content: what an attacker turns its row into. */
export const rewritten = (record: Logged): Logged => ({
  ...record,
  line: record.line.replace(/"outcome":"\w+"/, (outcome) =>
    outcome.includes('deny') ? '"outcome":"allow"' : '"outcome":"deny"',
  ),
});

export type Receipt = { event_id: string; entry: Buffer; iatMs: number; project?: string };

export function receiptOf({ event_id, entry, iatMs, project = PROJECT }: Receipt): string {
  const header = { alg: 'EdDSA', typ: 'gate-receipt+jwt', kid: KID };
  const iat = Math.floor(iatMs / 1000);
  const payload = { iss: 'gatehouse', sub: project, jti: event_id, entry: entry.toString('base64url'), iat };
  const text = [header, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${sign(null, Buffer.from(text), ROOT_KEY).toString('base64url')}`;
}

export const ROOT_KEYS = JSON.stringify({
  keys: [
    {
      kty: 'OKP',
      crv: 'Ed25519',
      alg: 'EdDSA',
      use: 'sig',
      kid: KID,
      x: publicBytesOf(ROOT_KEY).toString('base64url'),
    },
  ],
  successions: [],
});
