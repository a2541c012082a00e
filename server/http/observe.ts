import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import type { Metrics } from '../metrics.ts';
import { requestIdOf } from './request-id.ts';
import { withoutSecrets } from './without-secrets.ts';

/**
 * A flush answers all its callers together, and the next flush starts when they have sent again. Deferred lines are written while that next
 * flush runs.
 */
const DEFERRED_MS = 8;

/** Gives a request its id, its log line and its metrics. `log` decides when its line is written. */
export type Observe = (req: Request, res: Response, log?: 'deferred') => void;

export function createObserve({ logger, metrics }: { logger: Logger; metrics: Metrics }): Observe {
  const logRequest = createRequestLog(logger);
  const defer = createDeferred(DEFERRED_MS);
  // These lines hold an id, a path and a status. Redaction would take a quarter of their cost.
  const deferredLogger = logger.child({}, { redact: [] });
  return (req, res, log) => {
    const startMs = performance.now();
    const id = requestIdOf(req);
    req.id = id;
    res.setHeader('X-Request-Id', id);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    if (log !== 'deferred') logRequest(req, res);
    res.on('close', () => {
      const ms = performance.now() - startMs;
      const { statusCode, writableFinished: isAnswered } = res;
      const labels = labelsOf(req, statusCode);
      if (isAnswered) metrics.httpRequests.observe(labels, ms / 1000);
      if (log !== 'deferred') return;
      const level = isAnswered && statusCode === 503 ? 'warn' : 'info';
      const { method, originalUrl } = req;
      const url = originalUrl === labels.route ? originalUrl : withoutSecrets(originalUrl);
      const request = { id, method, url };
      const outcome = isAnswered ? { res: { statusCode } } : { aborted: true };
      defer(() =>
        deferredLogger[level]({ req: request, responseTime: Math.round(ms), ...outcome }, 'request'),
      );
    });
  };
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

/** Labels come from closed sets only: the route is its pattern, never the path. */
function labelsOf(req: Request, status: number) {
  const route = (req.route as { path?: string } | undefined)?.path ?? 'unmatched';
  return { route, method: METHODS.has(req.method) ? req.method : 'other', status };
}

/** Runs the given work in batches, `delayMs` after the first piece. */
function createDeferred(delayMs: number): (work: () => void) => void {
  let waiting: (() => void)[] = [];
  const runAll = () => {
    const works = waiting;
    waiting = [];
    for (const work of works) work();
  };
  return (work) => {
    if (waiting.push(work) === 1) setTimeout(runAll, delayMs);
  };
}

/** One line per request, when its answer is complete. Headers are left out on purpose: they contain keys and cookies. */
function createRequestLog(logger: Logger) {
  return pinoHttp({
    logger,
    customLogLevel: (_req, res) => (res.statusCode === 503 ? 'warn' : 'info'),
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request',
    serializers: {
      req: (req: { id: string; method: string; url: string }) => ({
        id: req.id,
        method: req.method,
        url: withoutSecrets(req.url),
      }),
      res: (res: { statusCode: number }) => ({ statusCode: res.statusCode }),
    },
  });
}
