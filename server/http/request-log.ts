import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { requestIdOf } from './request-id.ts';

/** Every bearer key is a JWT: three parts of base64url, the first of which begins as the base64url of `{"` does. */
const JWT = /(?<![\w-])eyJ[\w-]*(?:\.|%2e)[\w-]+(?:\.|%2e)[\w-]*/gi;
const PARAMETER = /([?&][^=&#?]*=)[^&#]*/g;
const SECRET_NAME = /token|key|password|secret|auth|bearer|jwt/i;

/** Mailed links and bearer keys may stand in a URL: neither goes to a log. */
function withoutSecrets(url: string): string {
  return url
    .replace(/\/(verify-email|reset-password)\/[^/?#]+/g, '/$1/[redacted]')
    .replace(PARAMETER, (whole, name: string) => (SECRET_NAME.test(name) ? `${name}[redacted]` : whole))
    .replace(JWT, '[redacted]');
}

/** One line a request, when its answer is done. The headers are deliberately not logged: they carry keys and cookies. */
export function createRequestLog(logger: Logger): (req: IncomingMessage, res: ServerResponse) => void {
  return pinoHttp({
    logger,
    genReqId: (req, res) => {
      const id = requestIdOf(req);
      res.setHeader('X-Request-Id', id);
      return id;
    },
    customLogLevel: (_req, res) => (res.statusCode === 503 ? 'warn' : 'info'),
    customSuccessMessage: () => 'request',
    customErrorMessage: () => 'request',
    serializers: {
      req: (req: { id: string; method: string; url: string }) => ({
        id: req.id,
        method: req.method,
        url: withoutSecrets(req.url),
      }),
      res: (res: { statusCode: number }) => ({ statusCode: res.statusCode }),
    },
  });
}
