import type { Response } from 'express';

/**
 * Does the work for as long as the caller waits for it: `signal` aborts when the caller goes away before it was answered,
 * and how the work ends is then nobody's business. An answer that fails is no such.
 */
export async function abortOnDisconnect(
  res: Response,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const gone = new AbortController();
  const leave = () => {
    if (!res.writableFinished && res.errored === null) gone.abort();
  };
  if (res.closed) leave();
  else res.on('close', leave);
  try {
    await work(gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}
