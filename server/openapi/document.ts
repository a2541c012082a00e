import { readFileSync } from 'node:fs';
import { ANSWERS } from './answers.ts';
import { operation } from './operation.ts';
import { accountPaths } from './paths-accounts.ts';
import { agentPaths } from './paths-agents.ts';
import { auditPaths } from './paths-audit.ts';
import { type JsonSchema, ref } from './schema.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const DESCRIPTION = `Durable audit trail and signed policies for AI agents.

Times are RFC 3339, UTC, with milliseconds. Errors are RFC 9457 \`application/problem+json\`; clients match on \`code\`.
Every answer carries \`X-Request-Id\`. A 401 carries \`WWW-Authenticate: Bearer\`, a 503 \`Retry-After: 5\`.
The audit reads are open unless the service runs with GATE_READ_AUTH=required.`;

function operationPaths() {
  const tag = 'Operations';
  const status = { 200: { description: 'OK', schema: ref('Status') } };
  const text = (type: string) => ({ 200: { description: 'OK', types: [type] } });
  const json = { 200: { description: 'OK', schema: { type: 'object' } } };
  return {
    '/healthz': { get: operation({ id: 'health', tag, summary: 'The process lives', answers: status }) },
    '/readyz': {
      get: operation({
        id: 'ready',
        tag,
        summary: 'The store answers',
        answers: status,
        problems: ['store_unavailable'],
      }),
    },
    '/metrics': {
      get: operation({ id: 'metrics', tag, summary: 'Prometheus', answers: text('text/plain') }),
    },
    '/openapi.json': { get: operation({ id: 'openapi', tag, summary: 'This document', answers: json }) },
    '/docs': {
      get: operation({ id: 'docs', tag, summary: 'This document, to read', answers: text('text/html') }),
    },
  };
}

/** The whole HTTP interface as OpenAPI 3.1, made from the schemas that validate. */
export function openapiDocument() {
  const schemas: Record<string, JsonSchema> = ANSWERS;
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths: { ...auditPaths(), ...agentPaths(), ...accountPaths(), ...operationPaths() },
    components: {
      schemas,
      securitySchemes: {
        bearerKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A bearer key of the project',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'gate_session',
          description: 'The session of a member',
        },
      },
    },
  };
}
