import type { PullRequest, PullResult } from './pull.ts';
import type { TrustedKeys } from './successions.ts';
import { thumbprintOf } from './public-key.ts';

/** The signing keys that this process trusts, for one base URL and one pinned key. Shared by all its sources. */
export type Trust = { keys: TrustedKeys | undefined };

/** One `Trust` per base URL and pinned key. */
export class Trusts {
  readonly #trusts = new Map<string, Trust>();

  /** Begins with the pinned key; without one, the first use decides. */
  async of(baseUrl: string, pinned: Uint8Array | undefined): Promise<Trust> {
    const kid = pinned && (await thumbprintOf(pinned));
    const name = JSON.stringify([baseUrl, kid]);
    const trust = this.#trusts.get(name) ?? { keys: pinned && kid ? new Map([[kid, pinned]]) : undefined };
    this.#trusts.set(name, trust);
    return trust;
  }
}

/** Pulls with the currently trusted keys, and keeps those that the pull adds. */
export async function pullTrusting(
  trust: Trust,
  request: Omit<PullRequest, 'trusted'>,
  pull: (request: PullRequest) => Promise<PullResult>,
): Promise<PullResult> {
  const trusted = trust.keys;
  const result = await pull({ ...request, trusted });
  // Another source used this address first: its trusted keys count, so this one must verify against them.
  const isLate = trusted === undefined && trust.keys !== undefined;
  if (isLate && !isPartOf(result.trusted, trust.keys)) return pullTrusting(trust, request, pull);
  keepTrusted(trust, result);
  return result;
}

/** A pull only adds keys, so the additions of overlapping pulls are kept. */
export function keepTrusted(trust: Trust, { trusted }: Pick<PullResult, 'trusted'>): void {
  if (trusted !== undefined) trust.keys = new Map([...trusted, ...(trust.keys ?? [])]);
}

function isPartOf(keys: TrustedKeys | undefined, others: TrustedKeys | undefined): boolean {
  return [...(keys ?? [])].every(([kid, key]) => others?.get(kid)?.join() === key.join());
}
