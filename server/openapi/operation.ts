import { PROBLEMS, type ProblemCode } from '../errors.ts';
import { type JsonSchema, ref } from './schema.ts';

/** What a caller must show: nothing, a bearer key, a session, either, or what GATE_READ_AUTH says. */
export type Credential = 'none' | 'key' | 'session' | 'member' | 'read';

export type OperationGiven = {
  id: string;
  tag: string;
  summary: string;
  description?: string;
  credential?: Credential;
  parameters?: Parameter[];
  body?: { schema: JsonSchema; example: unknown };
  /** By status. A text names a media type whose body is no JSON; undefined is no body. */
  answers: Record<number, { description: string; schema?: JsonSchema; types?: string[]; headers?: string[] }>;
  problems?: ProblemCode[];
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
};

const SECURITY: Record<Credential, Record<string, string[]>[]> = {
  none: [],
  key: [{ bearerKey: [] }],
  session: [{ session: [] }],
  member: [{ session: [] }, { bearerKey: [] }],
  read: [{}, { session: [] }, { bearerKey: [] }],
};

const CREDENTIAL_PROBLEMS: Record<Credential, ProblemCode[]> = {
  none: [],
  key: ['unauthenticated'],
  session: ['unauthenticated', 'forbidden'],
  member: ['unauthenticated', 'forbidden'],
  read: ['unauthenticated', 'forbidden'],
};

/** One operation of OpenAPI 3.1, with every problem that it may answer. */
export function operation(given: OperationGiven) {
  const {
    id,
    tag,
    summary,
    description,
    credential = 'none',
    parameters = [],
    body,
    answers,
    problems = [],
  } = given;
  const hasPath = parameters.some((parameter) => parameter.in === 'path');
  const codes = new Set<ProblemCode>([
    ...CREDENTIAL_PROBLEMS[credential],
    ...problems,
    // A path that is no percent-encoding names nothing.
    ...(hasPath ? (['not_found'] as const) : []),
    'headers_too_large',
    'internal',
  ]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(credential === 'none' ? {} : { security: SECURITY[credential] }),
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(parameterFrom) }),
    ...(body === undefined ? {} : { requestBody: requestBodyFrom(body) }),
    responses: { ...goodAnswers(answers), ...problemAnswers([...codes]) },
  };
}

function parameterFrom({ in: place, required, ...rest }: Parameter) {
  return { ...rest, in: place, required: required ?? place === 'path' };
}

function requestBodyFrom({ schema, example }: { schema: JsonSchema; example: unknown }) {
  return { required: true, content: { 'application/json': { schema, example } } };
}

function goodAnswers(answers: OperationGiven['answers']) {
  const entries = Object.entries(answers).map(([status, { description, schema, types, headers = [] }]) => {
    const names = types ?? (schema === undefined ? [] : ['application/json']);
    const content = Object.fromEntries(names.map((type) => [type, { schema: schema ?? { type: 'string' } }]));
    const told = Object.fromEntries(headers.map((name) => [name, { schema: { type: 'string' } }]));
    return [
      status,
      {
        description,
        ...(headers.length === 0 ? {} : { headers: told }),
        ...(names.length === 0 ? {} : { content }),
      },
    ];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** One answer a status: the titles of all problems that have it. */
function problemAnswers(codes: ProblemCode[]) {
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  const entries = Array.from(byStatus, ([status, same]) => [
    String(status),
    {
      description: same.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join('. '),
      content: { 'application/problem+json': { schema: ref('Problem') } },
    },
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}
