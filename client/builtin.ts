import { createRequire } from 'node:module';

/**
 * Requires a module of Node when it is used: an import of `node:http` would load a client of WebSocket, too. The path only has to
 * be absolute, on Windows as well.
 */
export const requireBuiltin: NodeJS.Require = /* @__PURE__ */ createRequire('file:///C:/');
