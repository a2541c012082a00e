import { RequestError } from '../errors.ts';

/** A store that hangs must not keep a caller (CONTRACT 3): what takes longer rejects with store_unavailable. */
export async function withTimeout<T>(work: Promise<T>, waitMsMax: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const fault = new RequestError('store_unavailable', 'The store did not answer in time. Try again.');
    timer = setTimeout(() => reject(fault), waitMsMax);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
