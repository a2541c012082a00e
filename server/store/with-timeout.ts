import { StoreError } from './store-error.ts';

/** Rejects with store_unavailable when the work takes longer. */
export async function withTimeout<T>(work: Promise<T>, waitMsMax: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const fault = new StoreError('store_unavailable', 'The store did not answer in time. Try again.');
    timer = setTimeout(() => reject(fault), waitMsMax);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
