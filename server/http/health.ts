import type { Router } from 'express';
import { RequestError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import { createRouter, mount } from './routes.ts';

type HealthDeps = { metrics: Metrics; isStoreUp: () => Promise<boolean> };

/** /healthz looks at nothing outside the process; /readyz asks the store; /metrics is Prometheus text. */
export function healthRoutes({ metrics, isStoreUp }: HealthDeps): Router {
  const router = createRouter();
  mount(router, '/healthz', {
    get: (_req, res) => {
      res.json({ status: 'ok' });
    },
  });
  mount(router, '/readyz', {
    get: async (_req, res) => {
      if (!(await isStoreUp())) throw new RequestError('store_unavailable', 'The store does not answer');
      res.json({ status: 'ready' });
    },
  });
  mount(router, '/metrics', {
    get: async (_req, res) => {
      const text = await metrics.text();
      res.type(metrics.registry.contentType).send(text);
    },
  });
  return router;
}
