import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { requestIdOf } from './request-id.ts';

/** Bearer keys and mailed tokens are longer, and written in these characters; a UUID has 36. */
const LONG_WORD = /[\w.~-]{40,}/g;
/** Base64url has both; the long name of an agent seldom. */
const isRandom = (word: string) => /[A-Z]/.test(word) && /\d/.test(word);
const PARAMETER = /([?&][^=&#?]*=)[^&#]*/g;
const SECRET_NAME = /token|key|pass|pwd|secret|auth|bearer|jwt|credential|session|cookie/i;

/** Mailed links and bearer keys may stand in a URL: neither goes to a log. */
function withoutSecrets(url: string): string {
  return url
    .replace(/\/(verify-email|reset-password)\/[^/?#]+/g, '/$1/[redacted]')
    .replace(PARAMETER, (whole, name: string) => (SECRET_NAME.test(name) ? `${name}[redacted]` : whole))
    .replace(LONG_WORD, (word) => (isRandom(word) ? '[redacted]' : word));
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
