import type { Express } from 'express';
import { BoundedQueue } from '../bounded-queue.ts';
import { RequestError } from '../errors.ts';
import type { Endpoint, Method } from './endpoint.ts';
import {
  ARRIVING_BYTES_MAX,
  ARRIVING_BYTES_OF_STRANGERS_MAX,
  BODY_TURNS_MS_MAX,
  HEAVY_BODIES,
  HEAVY_BODIES_OF_STRANGERS,
  LARGE_BODIES,
  PLAIN_BYTES_MAX,
  PLAIN_BYTES_OF_STRANGERS_MAX,
} from '../limits.ts';
import { inMemory } from '../memory.ts';
import { type Arriving, createHandler, type EdgeDeps } from './run-endpoint.ts';

const VERBS = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const satisfies Record<
  Method,
  string
>;

/**
 * Mounts the endpoints. Any other method on their paths gets 405 with Allow. Express tries its layers in order, so the deferred endpoints
 * come first, and observe themselves. All other requests are observed by the layer after them.
 */
export function mountEndpoints(app: Express, endpoints: readonly Endpoint[], deps: EdgeDeps): void {
  const ofStrangers = new BoundedQueue(HEAVY_BODIES_OF_STRANGERS);
  const arriving: Arriving = {
    known: {
      count: 0,
      max: inMemory(ARRIVING_BYTES_MAX),
      plainBytesMax: PLAIN_BYTES_MAX,
      turnsMsMax: BODY_TURNS_MS_MAX,
      heavy: new BoundedQueue(HEAVY_BODIES),
      large: new BoundedQueue(LARGE_BODIES),
    },
    strangers: {
      count: 0,
      max: inMemory(ARRIVING_BYTES_OF_STRANGERS_MAX),
      plainBytesMax: PLAIN_BYTES_OF_STRANGERS_MAX,
      turnsMsMax: BODY_TURNS_MS_MAX,
      heavy: ofStrangers,
      large: ofStrangers,
    },
  };
  const edge = { ...deps, arriving };
  for (const one of endpoints)
    if (one.log === 'deferred') app[VERBS[one.method]](expressPath(one), createHandler(one, edge));
  app.use((req, res, next) => {
    deps.observe(req, res);
    next();
  });
  for (const path of new Set(endpoints.map((one) => one.path))) {
    const same = endpoints.filter((one) => one.path === path);
    const route = app.route(expressPath(same[0] as Endpoint));
    for (const one of same) if (one.log === undefined) route[VERBS[one.method]](createHandler(one, edge));
    const allow = same.flatMap(({ method }) => allowed(method));
    route.all((req) => {
      throw methodNotAllowed(req.method, allow.join(', '));
    });
  }
}

/** `{id}` in Express's syntax: `:id`, or `*id` if it takes the rest of the path. */
function expressPath({ path, restParam }: Endpoint): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === restParam ? `*${name}` : `:${name}`));
}

function allowed(method: Method): string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

/** `allow` lists the methods as in the header. */
export function methodNotAllowed(method: string, allow: string): RequestError {
  return new RequestError('method_not_allowed', `${method} is not allowed here. Allowed: ${allow}`, {
    headers: { Allow: allow },
  });
}
