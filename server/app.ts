import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import type { Access } from './access/access.ts';
import { accountEndpoints, type AccountDeps } from './accounts/endpoints.ts';
import { singleSignOnEndpoints, type SingleSignOnDeps } from './accounts/single-sign-on-endpoints.ts';
import { activityEndpoints, type ActivityDeps } from './activity/endpoints.ts';
import { alertEndpoints, type AlertDeps } from './alerts/endpoints.ts';
import { agentEndpoints, type AgentDeps } from './agents/endpoints.ts';
import { RequestError } from './errors.ts';
import { dashboardRoutes } from './dashboard/serve.ts';
import type { ApiOf } from './http/endpoint.ts';
import { answerError } from './http/error-handler.ts';
import { healthEndpoints, type HealthDeps } from './http/health.ts';
import { mountEndpoints } from './http/mount.ts';
import { createObserve } from './http/observe.ts';
import { withoutSecrets } from './http/without-secrets.ts';
import { ingestEndpoints, type IngestEndpointDeps } from './ingest/endpoints.ts';
import { keyEndpoints, type KeyDeps } from './keys/endpoints.ts';
import { logEndpoints, type LogDeps } from './log/endpoints.ts';
import { openapiEndpoints } from './openapi/endpoints.ts';
import { memberEndpoints, type MemberDeps } from './members/endpoints.ts';
import { projectEndpoints, type ProjectDeps } from './projects/endpoints.ts';
import { recordEndpoints, type ReadDeps } from './records/endpoints.ts';

type EndpointDeps = IngestEndpointDeps &
  AgentDeps &
  ReadDeps &
  LogDeps &
  KeyDeps &
  AccountDeps &
  SingleSignOnDeps &
  ProjectDeps &
  MemberDeps &
  ActivityDeps &
  AlertDeps &
  HealthDeps;
type AppDeps = EndpointDeps & { access: Access; logger: Logger; trustedProxies: string[] };

/** Every call of the interface by `METHOD path`, with its parameters, body and answer. */
export type Api = ApiOf<ReturnType<typeof createEndpoints>[number]>;

/** All endpoints. Express tries them in this order, so those that agents call come first. */
export function createEndpoints(deps: EndpointDeps) {
  const endpoints = [
    ...ingestEndpoints(deps),
    ...agentEndpoints(deps),
    ...recordEndpoints(deps),
    ...logEndpoints(deps),
    ...keyEndpoints(deps),
    ...accountEndpoints(deps),
    ...singleSignOnEndpoints(deps),
    ...projectEndpoints(deps),
    ...memberEndpoints(deps),
    ...activityEndpoints(deps),
    ...alertEndpoints(deps),
    ...healthEndpoints(deps),
  ];
  return [...endpoints, ...openapiEndpoints(endpoints)];
}

/** The whole HTTP surface. No I/O, no environment. */
export function createApp(deps: AppDeps): Express {
  const { logger, metrics, access } = deps;
  const app = express();
  app.disable('x-powered-by');
  // Express would hash every JSON answer for a weak ETag.
  app.disable('etag');
  // Without an ETag, Express would still answer `If-None-Match: *` with 304. Handlers with an ETag compare it themselves.
  Object.defineProperty(app.request, 'fresh', { value: false });
  app.enable('case sensitive routing').enable('strict routing');
  // Attempts are counted per caller. Behind a proxy, all callers would otherwise have its address.
  app.set('trust proxy', deps.trustedProxies);
  const observe = createObserve({ logger, metrics });
  mountEndpoints(app, createEndpoints(deps), { access, observe, logger });
  app.use(dashboardRoutes());
  app.use((req) => {
    throw new RequestError('not_found', `There is nothing at ${withoutSecrets(req.path)}`);
  });
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) =>
    answerError(error, { res, logger }),
  );
  return app;
}
