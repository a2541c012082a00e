import { StoreError } from './store-error.ts';

/** Rejects with the fault, by default store_unavailable, when the work takes longer. */
export async function withTimeout<T>(work: Promise<T>, waitMsMax: number, fault = storeLate): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(fault()), waitMsMax);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function storeLate(): Error {
  return new StoreError('store_unavailable', 'The store did not answer in time. Try again.');
}
