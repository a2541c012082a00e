import { createEndpoints } from '../../server/app.ts';

const nothing: Parameters<typeof createEndpoints>[0] = new Proxy(Object.create(null), { get: () => nothing });

/** The declarations of all endpoints. Their handlers have no service to work with. */
export const DECLARATIONS = createEndpoints(nothing);
