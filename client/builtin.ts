import { createRequire } from 'node:module';

/**
 * Requires a Node module at its first use: an import of `node:http` would load a WebSocket client, too. The path only has to be
 * absolute, on Windows as well.
 */
export const requireBuiltin: NodeJS.Require = /* @__PURE__ */ createRequire('file:///C:/');
