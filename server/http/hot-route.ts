import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Metrics } from '../metrics.ts';
import { answerError } from './error-handler.ts';
import { requestIdOf } from './request-id.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
type HotRouteDeps = {
  handlers: Map<string, Handler>;
  rest: RequestListener;
  logger: Logger;
  metrics: Metrics;
};

/**
 * How long after its answer a request is logged. A flush answers its callers all at once, and the next one starts when
 * they have sent again: what nobody waits for is done while it runs.
 */
const LOG_AFTER_MS = 8;

/**
 * Takes the POSTs of the given paths before Express sees them, and leaves everything else to `rest`. Id, log line,
 * metric and errors are as there. By hand, because fleets stream to these paths and Express's router with pino-http
 * took about a fifth of the main thread's time for such a request (measured on a busy machine).
 */
export function withHotRoutes({ handlers, rest, logger, metrics }: HotRouteDeps): RequestListener {
  const logLater = afterwards(LOG_AFTER_MS);
  // Its lines hold an id, a path and a status: to look for secrets in them took a quarter of their time.
  const lines = logger.child({}, { redact: [] });
  return (req, res) => {
    const path = req.url ?? '';
    const handler = req.method === 'POST' ? handlers.get(path) : undefined;
    if (handler === undefined) {
      rest(req, res);
      return;
    }
    const startMs = performance.now();
    const id = requestIdOf(req);
    res.setHeader('X-Request-Id', id);
    res.on('close', () => {
      const ms = performance.now() - startMs;
      const { statusCode, writableFinished } = res;
      // Who left before the answer got none: there is no status to count.
      if (writableFinished)
        metrics.httpRequests.observe({ route: path, method: 'POST', status: statusCode }, ms / 1000);
      logLater(() => {
        const line = { req: { id, method: 'POST', url: path }, responseTime: Math.round(ms) };
        if (!writableFinished) lines.info({ ...line, aborted: true }, 'request');
        else lines[statusCode === 503 ? 'warn' : 'info']({ ...line, res: { statusCode } }, 'request');
      });
    });
    handler(req, res).catch((error: unknown) => answerError(error, { res, logger }));
  };
}

/** Does what it is given in one go, `delayMs` after the first of it came. */
function afterwards(delayMs: number): (work: () => void) => void {
  let waiting: (() => void)[] = [];
  const doAll = () => {
    const works = waiting;
    waiting = [];
    for (const work of works) work();
  };
  return (work) => {
    if (waiting.push(work) === 1) setTimeout(doAll, delayMs);
  };
}
