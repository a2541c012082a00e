import cluster from 'node:cluster';
import { isIPv6 } from 'node:net';
import type { Request } from 'express';
import { RateLimiterCluster, RateLimiterMemory } from 'rate-limiter-flexible';
import { RequestError } from '../errors.ts';
import { ATTEMPT_WINDOW_MS, STATEMENT_WAIT_MS_MAX } from '../limits.ts';

/**
 * Limits the attempts of each key within 15 minutes of its first one. Counted in this process, or in the overseer for all of its workers,
 * where `name` distinguishes this limit from others.
 */
export class RateLimit {
  readonly #max: number;
  readonly #limiter: RateLimiterMemory | RateLimiterCluster;

  constructor(name: string, max: number) {
    this.#max = max;
    const options = { keyPrefix: name, points: max, duration: ATTEMPT_WINDOW_MS / 1000 };
    this.#limiter = cluster.isWorker
      ? new RateLimiterCluster({ ...options, timeoutMs: STATEMENT_WAIT_MS_MAX })
      : new RateLimiterMemory(options);
  }

  /** Throws rate_limited when the key has no attempts left. Counts nothing. */
  async require(key: string): Promise<void> {
    const used = await this.#ask((limiter) => limiter.get(key));
    // The limiter's timer may not have removed an expired record yet.
    if (used === null || used.msBeforeNext <= 0 || used.consumedPoints < this.#max) return;
    throw rateLimited(used.msBeforeNext);
  }

  /** Counts an attempt. Throws rate_limited, and counts nothing, if it exceeds the limit. */
  async consume(key: string): Promise<void> {
    const { consumedPoints, msBeforeNext } = await this.#ask((limiter) => limiter.penalty(key, 1));
    if (consumedPoints <= this.#max) return;
    // Otherwise refunds of earlier attempts would not make room.
    await this.refund(key);
    throw rateLimited(msBeforeNext);
  }

  /** Counts an attempt. False if it exceeds the limit. */
  async tryConsume(key: string): Promise<boolean> {
    return (await this.#ask((limiter) => limiter.penalty(key, 1))).consumedPoints <= this.#max;
  }

  async isUnused(key: string): Promise<boolean> {
    const used = await this.#ask((limiter) => limiter.get(key));
    return used === null || used.consumedPoints <= 0;
  }

  /** Takes back an attempt that was counted. */
  async refund(key: string): Promise<void> {
    await this.#ask((limiter) => limiter.reward(key, 1));
  }

  async reset(key: string): Promise<void> {
    await this.#ask((limiter) => limiter.delete(key));
  }

  /** Fails only if the overseer does not answer. */
  async #ask<T>(question: (limiter: RateLimiterMemory | RateLimiterCluster) => Promise<T>): Promise<T> {
    return question(this.#limiter).catch((cause: unknown) => {
      throw new RequestError('overloaded', 'Attempts cannot be counted now. Try again.', { cause });
    });
  }
}

function rateLimited(waitMs: number): RequestError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new RequestError('rate_limited', `Too many attempts. Try again in ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

/** The caller's address for rate limits. */
export function addressOf(req: Request): string {
  return networkOf(req.ip ?? '');
}

/** An IPv4 address unchanged, or the /64 prefix of an IPv6 address, which one customer holds. */
export function networkOf(address: string): string {
  const ip = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(ip)) return ip;
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  if (tail !== undefined) while (groups.length + rest.length < 8) groups.push('0');
  return `${[...groups, ...rest]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
