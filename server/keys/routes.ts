import { Router } from 'express';
import { mount } from '../http/routes.ts';
import type { SigningKeys } from './signing-keys.ts';

/** GET /v1/.well-known/keys: the public keys that verify bearer keys and bundles, as a JWK set (RFC 7517 section 5). */
export function keyRoutes({ jwks }: SigningKeys): Router {
  const router = Router();
  mount(router, '/v1/.well-known/keys', {
    get: (_req, res) => {
      res.set('Cache-Control', 'public, max-age=300').json(jwks);
    },
  });
  return router;
}
