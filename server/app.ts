import type { RequestListener } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import type { AccountServices } from './accounts/create-account-services.ts';
import { accountRoutes } from './accounts/routes.ts';
import { activityRoutes } from './activity/routes.ts';
import { agentRoutes, type AgentRouteDeps } from './agents/routes.ts';
import { createDecisionIngest, createLlmIngest, type Handler, type IngestDeps } from './ingest/ingest.ts';
import { readRoutes, type ReadDeps } from './records/routes.ts';
import { RequestError } from './errors.ts';
import { dashboardRoutes } from './http/dashboard.ts';
import { answerError } from './http/error-handler.ts';
import { healthRoutes } from './http/health.ts';
import { withHotRoutes } from './http/hot-route.ts';
import { createRequestLog } from './http/request-log.ts';
import { mount } from './http/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import type { Metrics } from './metrics.ts';
import { openapiRoutes } from './openapi/routes.ts';
import { projectRoutes } from './projects/routes.ts';

export type AppDeps = IngestDeps &
  ReadDeps &
  AgentRouteDeps & {
    logger: Logger;
    metrics: Metrics;
    signing: SigningKeys;
    accountServices: AccountServices;
    trustedProxies: string[];
    isStoreUp: () => Promise<boolean>;
  };

const DECISIONS_PATH = '/v1/audit/decisions';
const LLM_INVOCATIONS_PATH = '/v1/audit/llm-invocations';

/** The whole HTTP surface. No I/O, no environment. */
export function createApp(deps: AppDeps): RequestListener {
  const { logger, metrics } = deps;
  const ingest = { decisions: createDecisionIngest(deps), llm: createLlmIngest(deps) };
  const handlers = new Map([
    [DECISIONS_PATH, ingest.decisions],
    [LLM_INVOCATIONS_PATH, ingest.llm],
  ]);
  return withHotRoutes({ handlers, rest: createExpressApp(deps, ingest), logger, metrics });
}

type Ingest = { decisions: Handler; llm: Handler };

/** Routes in order, then what was not found, then the error handler. */
function createExpressApp(deps: AppDeps, ingest: Ingest): Express {
  const { logger, metrics, signing, bearerKeys, accountServices } = deps;
  const app = express();
  app.disable('x-powered-by');
  // Express would hash every JSON answer for a weak ETag.
  app.disable('etag');
  app.enable('case sensitive routing').enable('strict routing');
  // Attempts are counted by caller, and behind a proxy all callers have its address.
  app.set('trust proxy', deps.trustedProxies);
  app.use(createRequestLog(logger));
  app.use(measureRequests(metrics));
  mount(app, DECISIONS_PATH, { post: ingest.decisions });
  mount(app, LLM_INVOCATIONS_PATH, { post: ingest.llm });
  app.use(readRoutes(deps));
  app.use(agentRoutes(deps));
  app.use(keyRoutes({ ...accountServices, signing, bearerKeys }));
  app.use(accountRoutes(accountServices));
  app.use(projectRoutes(accountServices));
  app.use(activityRoutes(accountServices));
  app.use(healthRoutes(deps));
  app.use(openapiRoutes());
  app.use(dashboardRoutes());
  app.use((req) => {
    throw new RequestError('not_found', `There is nothing at ${req.path}`);
  });
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) =>
    answerError(error, { res, logger }),
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
