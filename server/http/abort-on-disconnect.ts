import type { Response } from 'express';

/** A signal that aborts when the caller disconnects before it has its answer. A failed response is not a disconnect. */
export function disconnectSignal(res: Response): AbortSignal {
  const disconnect = new AbortController();
  const onClose = () => {
    if (!res.writableFinished && res.errored === null) disconnect.abort();
  };
  if (res.closed) onClose();
  else res.on('close', onClose);
  return disconnect.signal;
}
