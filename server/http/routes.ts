import { type Request, type RequestHandler, Router } from 'express';
import { RequestError } from '../errors.ts';

type Method = 'get' | 'post' | 'put' | 'delete';

/** `/V1/agents` and `/v1/agents/` are other paths than `/v1/agents`: unknown ones. */
export function createRouter(): Router {
  return Router({ caseSensitive: true, strict: true });
}

/** Mounts the handlers of one path; any other method gets 405 with Allow. */
export function mount(router: Router, path: string, handlers: Partial<Record<Method, RequestHandler>>): void {
  const route = router.route(path);
  const methods = Object.keys(handlers) as Method[];
  for (const method of methods) {
    const handler = handlers[method];
    if (handler !== undefined) route[method](handler);
  }
  const allow = methods
    .flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
    .join(', ');
  route.all((req: Request) => {
    throw methodNotAllowed(req.method, allow);
  });
}

/** `allow`: the methods that are, as the header lists them. */
export function methodNotAllowed(method: string, allow: string): RequestError {
  return new RequestError('method_not_allowed', `${method} is not allowed here; allowed: ${allow}`, {
    headers: { Allow: allow },
  });
}
