import type { ServerResponse } from 'node:http';
import { PROBLEMS, type ProblemCode, type RequestError } from '../errors.ts';
import { RETRY_AFTER_SECONDS } from '../limits.ts';
import { answer, oneOf, STRING } from './schemas.ts';
import { Type } from '../type.ts';

/** The schema of a problem (RFC 9457). */
export const PROBLEM = answer(
  {
    type: Type.String({ pattern: '^urn:gatehouse:problem:' }),
    title: STRING,
    status: Type.Integer(),
    detail: STRING,
    code: oneOf(Object.keys(PROBLEMS) as ProblemCode[]),
    errors: Type.Optional(
      Type.Array(
        answer({
          message: STRING,
          path: Type.Optional(STRING),
          line: Type.Optional(Type.Integer()),
          column: Type.Optional(Type.Integer()),
        }),
      ),
    ),
  },
  'Problem',
);

export function problemText(error: RequestError): string {
  return JSON.stringify({
    type: `urn:gatehouse:problem:${error.code}`,
    title: PROBLEMS[error.code].title,
    status: error.status,
    detail: error.message,
    code: error.code,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
  });
}

/** The Cache-Control of every problem, and of every answer under /v1 that does not set another. */
export const NO_CACHE = 'private, no-store';

/** The only place that adds the headers of an error's status. */
export function problemHeaders(error: RequestError): Record<string, string> {
  const headers: Record<string, string> = {
    'Content-Type': 'application/problem+json',
    'Cache-Control': NO_CACHE,
    'X-Content-Type-Options': 'nosniff',
    ...error.headers,
  };
  if (error.status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (error.status === 503) headers['Retry-After'] = String(RETRY_AFTER_SECONDS);
  return headers;
}

export function sendProblem(res: ServerResponse, error: RequestError): void {
  const body = Buffer.from(problemText(error));
  res.statusCode = error.status;
  for (const [name, value] of Object.entries(problemHeaders(error))) res.setHeader(name, value);
  res.setHeader('Content-Length', body.length);
  res.end(res.req.method === 'HEAD' ? undefined : body);
}
