import { readFileSync } from 'node:fs';
import type { TSchema } from 'typebox';
import type { Audience } from '../access/access.ts';
import { SCOPES } from '../rights.ts';
import { PROBLEMS, type ProblemCode } from '../errors.ts';
import { type Endpoint, TAGS } from '../http/endpoint.ts';
import { PROBLEM } from '../http/problem.ts';

type Json = Record<string, unknown>;
type Components = Map<string, Json>;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const DESCRIPTION = `Durable audit trail and signed policies for AI agents.

Times are RFC 3339, UTC, with milliseconds. Errors are RFC 9457 \`application/problem+json\`; clients match on \`code\`.
Every answer carries \`X-Request-Id\`. A 401 carries \`WWW-Authenticate: Bearer\`, a 503 \`Retry-After: 5\`.
The audit reads are open unless the service runs with GATE_READ_AUTH=required.`;

/** The whole HTTP interface as OpenAPI 3.1. It follows from the endpoints' declarations. */
export function openapiDocument(endpoints: readonly Endpoint[]) {
  const components: Components = new Map();
  const paths: Record<string, Json> = {};
  for (const one of endpoints) {
    paths[one.path] = { ...paths[one.path], [one.method.toLowerCase()]: operationFrom(one, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse',
      version,
      description: DESCRIPTION,
      contact: { name: 'The Gatehouse maintainers' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries(components),
      securitySchemes: {
        bearerKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A bearer key of the project',
        },
        metricsToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token of GATE_METRICS_TOKEN, if the service has one',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'gate_session',
          description: 'The session of an account',
        },
      },
    },
  };
}

function operationFrom(given: Endpoint, components: Components): Json {
  const { id, tag, summary, description, allow, body } = given;
  const parameters = parametersOf(given);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: securityOf(allow),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBodyFrom(body, components) }),
    responses: {
      ...answersFrom(given.answers, components),
      ...problemAnswers(problemsOf(given), components),
      ...defaultAnswer(given.answers, components),
    },
  };
}

/** The accepted credentials, one of which is needed; an empty object means none is. */
function securityOf(allow: Audience): Record<string, string[]>[] {
  if (allow === 'anyone') return [];
  if (allow === 'scraper') return [{}, { metricsToken: [] }];
  if (allow === 'session') return [{ session: [] }];
  if (!('role' in allow)) return [{ bearerKey: [] }];
  if (!('scope' in allow)) return [{ session: [] }];
  return [...(allow.open === undefined ? [] : [{}]), { session: [] }, { bearerKey: [] }];
}

/** Every problem that the endpoint may answer with. */
function problemsOf({ allow, params, query, body, problems = [] }: Endpoint): Set<ProblemCode> {
  const queryCodes = Object.values<{ 'x-problem'?: ProblemCode }>(query?.properties ?? {});
  return new Set<ProblemCode>([
    ...(allow === 'anyone' ? [] : (['unauthenticated'] as const)),
    ...(allow === 'anyone' || allow === 'scraper' ? [] : (['forbidden', 'store_unavailable'] as const)),
    ...queryCodes.map((schema) => schema['x-problem'] ?? 'query_invalid'),
    ...(body === undefined ? [] : (['body_invalid', 'overloaded'] as const)),
    ...(body === undefined ? [] : [body.isList ? ('batch_too_large' as const) : ('body_too_large' as const)]),
    ...problems,
    // A path with an invalid percent-encoding names nothing.
    ...(params === undefined ? [] : (['not_found'] as const)),
    'headers_too_large',
    'internal',
  ]);
}

function parametersOf({ params = {}, headers = {}, query }: Endpoint): Json[] {
  const inPath = Object.entries<TSchema>(params).map(([name, schema]) =>
    parameterFrom({ name, in: 'path', required: true }, schema),
  );
  const inHeader = Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) =>
    parameterFrom({ name, in: 'query' }, schema),
  );
  return [...inPath, ...inHeader, ...inQuery];
}

function parameterFrom(head: Json, schema: TSchema): Json {
  const { description, examples, ...rest } = publicSchema(schema) as {
    description?: string;
    examples?: unknown[];
  };
  return {
    ...head,
    ...(description === undefined ? {} : { description }),
    schema: rest,
    ...(examples === undefined ? {} : { example: examples[0] }),
  };
}

function requestBodyFrom(
  { schema, example, isList }: NonNullable<Endpoint['body']>,
  components: Components,
): Json {
  const json = { 'application/json': { schema: publicSchema(schema, components), example } };
  return { required: true, content: isList ? { ...json, ...linesOf(example) } : json };
}

/** OpenAPI 3.1 has no schema for the lines of a text. */
function linesOf(example: object): Json {
  const lines = Object.values(example).map((item) => `${JSON.stringify(item)}\n`);
  const description = 'The items of the array, one a line';
  return { 'application/x-ndjson': { schema: { type: 'string', description }, example: lines.join('') } };
}

function answersFrom(answers: Endpoint['answers'], components: Components): Json {
  const entries = Object.entries(answers).map(([status, { description, schema, mediaTypes, headers }]) => {
    const types = mediaTypes ?? (schema === undefined ? [] : ['application/json']);
    const body = schema === undefined ? { type: 'string' } : publicSchema(schema, components);
    const content = Object.fromEntries(types.map((type) => [type, { schema: body }]));
    const sent = headers?.map((name) => [name, { schema: { type: 'string' } }]);
    return [
      status,
      {
        description,
        ...(sent === undefined ? {} : { headers: Object.fromEntries(sent) as Json }),
        ...(types.length === 0 ? {} : { content }),
      },
    ];
  });
  return Object.fromEntries(entries) as Json;
}

/** One answer per status: the titles of all problems that have it. */
function problemAnswers(codes: Set<ProblemCode>, components: Components): Json {
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  const schema = publicSchema(PROBLEM, components);
  const entries = Array.from(byStatus, ([status, same]) => [
    String(status),
    {
      description: same.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join('. '),
      content: { 'application/problem+json': { schema } },
    },
  ]);
  return Object.fromEntries(entries) as Json;
}

/** Linters expect an answer 2xx or a default one. A call that only redirects has no 2xx. */
function defaultAnswer(answers: Endpoint['answers'], components: Components): Json {
  if (Object.keys(answers).some((status) => status.startsWith('2'))) return {};
  const schema = publicSchema(PROBLEM, components);
  return {
    default: { description: 'Any other problem', content: { 'application/problem+json': { schema } } },
  };
}

/** Our own formats in terms that every validator knows. */
const OWN_FORMATS: Record<string, Json> = {
  text: { pattern: '^[^\\u0000]*$' },
  'agent-name': { pattern: '^(?!\\.{1,2}$)[^/\\u0000-\\u001f\\u007f-\\u009f]+$' },
  'tool-name': {},
  note: { pattern: '^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f]*$' },
  scope: { pattern: `^(${SCOPES.join('|')})( (${SCOPES.join('|')}))*$` },
};

/** A schema as the document shows it. One with a name becomes a component. */
function publicSchema(schema: unknown, components?: Components): Json {
  return publicValue(schema, components) as Json;
}

function publicValue(value: unknown, components: Components | undefined): unknown {
  if (Array.isArray(value)) return value.map((inner) => publicValue(inner, components));
  if (typeof value !== 'object' || value === null) return value;
  const shown: Json = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, publicValue(inner, components)]),
  );
  const { $id, format, required, ...rest } = shown;
  const schema: Json = {
    ...(typeof format === 'string' ? (OWN_FORMATS[format] ?? { format }) : {}),
    ...rest,
    ...(Array.isArray(required) ? requiredOf(required as string[], shown) : {}),
  };
  if (typeof $id !== 'string' || components === undefined) return schema;
  components.set($id, schema);
  return { $ref: `#/components/schemas/${$id}` };
}

/** A key with a default may be left out. */
function requiredOf(required: string[], { properties = {} }: { properties?: Json }): Json {
  const needed = required.filter((name) => !Object.hasOwn(properties[name] as Json, 'default'));
  return needed.length === 0 ? {} : { required: needed };
}
