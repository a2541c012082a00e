import { RequestError } from '../errors.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { sha256Hex } from '../sha256.ts';

type Claim<T> = {
  /** Who holds it. Of several it must always name the same one. */
  find: () => Promise<T | undefined>;
  /** Writes the claim with the token that makes the store keep the first one only. */
  write: (token: string) => Promise<void>;
};

/**
 * Claims a name that only one may hold and tells who holds it: the caller, or who came before. In this process the
 * callers of one key wait for each other. Of several processes the store keeps the first insert with the key's token,
 * and reading back tells each of them whose it was.
 */
export function claim<T>(mutex: KeyedMutex, key: string, { find, write }: Claim<T>): Promise<T> {
  return mutex.run(key, async () => {
    const before = await find();
    if (before !== undefined) return before;
    await write(sha256Hex(key));
    const holder = await find();
    if (holder === undefined)
      throw new RequestError(
        'store_unavailable',
        'The store does not show what was just written. Try again.',
      );
    return holder;
  });
}
