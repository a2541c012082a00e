import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { agentRoutes, type AgentRouteDeps } from './agents/routes.ts';
import { createDecisionIngest, createLlmIngest, type IngestDeps } from './audit/ingest.ts';
import { readRoutes, type ReadDeps } from './audit/read-routes.ts';
import { RequestError } from './errors.ts';
import { answerError } from './http/error-handler.ts';
import { healthRoutes } from './http/health.ts';
import { createRequestLog } from './http/request-log.ts';
import { mount } from './http/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import type { Metrics } from './metrics.ts';

export type AppDeps = IngestDeps &
  ReadDeps &
  AgentRouteDeps & {
    logger: Logger;
    metrics: Metrics;
    signing: SigningKeys;
    isStoreUp: () => Promise<boolean>;
  };

/** The whole HTTP surface: routes in order, then what was not found, then the error handler. No I/O, no environment. */
export function createApp(deps: AppDeps): Express {
  const { logger, metrics } = deps;
  const app = express();
  app.disable('x-powered-by');
  // Express would hash every JSON answer for a weak ETag.
  app.disable('etag');
  app.use(createRequestLog(logger));
  app.use(measureRequests(metrics));
  mount(app, '/v1/audit/decisions', { post: createDecisionIngest(deps) });
  mount(app, '/v1/audit/llm-invocations', { post: createLlmIngest(deps) });
  app.use(readRoutes(deps));
  app.use(agentRoutes(deps));
  app.use(keyRoutes(deps.signing));
  app.use(healthRoutes(deps));
  app.use((req) => {
    throw new RequestError('not_found', `There is nothing at ${req.path}`);
  });
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) =>
    answerError(error, { req, res, logger }),
  );
  return app;
}

/** The route is its pattern, never the path: labels come from a closed set. */
function measureRequests(metrics: Metrics) {
  return (req: Request, res: Response, next: NextFunction) => {
    const startMs = performance.now();
    res.on('finish', () => {
      const route = (req.route as { path?: string } | undefined)?.path ?? 'unmatched';
      const labels = { route, method: methodLabel(req.method), status: res.statusCode };
      metrics.httpRequests.observe(labels, (performance.now() - startMs) / 1000);
    });
    next();
  };
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

function methodLabel(method: string): string {
  return METHODS.has(method) ? method : 'other';
}
