import type { KeyedMutex } from '../keyed-mutex.ts';
import { sha256Hex } from '../sha256.ts';
import { StoreError } from './store-error.ts';

type Claim<T> = {
  /** Finds the holder. If there are several, it must always return the same one. */
  find: () => Promise<T | undefined>;
  /** Writes the claim with this token. The store keeps only the first insert of a token. */
  write: (token: string) => Promise<void>;
};

/**
 * Claims a name that only one may hold, and resolves with its holder: the caller, or an earlier one. In this process, the callers of one
 * key wait for each other. Of several processes, the store keeps the first insert with the key's token, and reading it back tells each
 * process who holds the name.
 */
export function claim<T>(mutex: KeyedMutex, key: string, { find, write }: Claim<T>): Promise<T> {
  return mutex.run(key, async () => {
    const before = await find();
    if (before !== undefined) return before;
    await write(sha256Hex(key));
    const holder = await find();
    if (holder === undefined)
      throw new StoreError('store_unavailable', 'The store does not show what was just written. Try again.');
    return holder;
  });
}
