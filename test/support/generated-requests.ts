import fc from 'fast-check';
import { hostileValue, nearlyValid, validValue } from './schema-values.ts';
import type { Operation, OperationAt } from './openapi.ts';

export type Generated = { path: string; headers: Record<string, string>; body: string | undefined };

/** Valid values for generated requests: existing path parameters and queries, and valid credentials. */
export type World = {
  params: Record<string, string>;
  credentials: Record<string, Record<string, string>>;
  queries: Record<string, string>;
  /** Bodies that the world accepts, in addition to those that the schemas accept. */
  bodies: Record<string, unknown[]>;
};

/** How often a part of a request is valid, out of ten. */
const RIGHT = 7;

/** Requests for one operation: valid, nearly valid, and hostile. */
export function requestsFor(at: OperationAt, world: World): fc.Arbitrary<Generated> {
  return fc
    .record({
      path: pathOf(at, world),
      query: queryOf(at.operation, world),
      credential: credentialOf(at.operation, world),
      more: fc.oneof({ weight: RIGHT, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: oddHeaders }),
      content: contentOf(at.operation, world),
    })
    .map(({ path, query, credential, more, content: { body, headers } }) => ({
      path: query === '' ? path : `${path}?${query}`,
      headers: { ...headers, ...credential, ...more },
      body,
    }));
}

/** Percent-encoded, so that it stays one segment of a path, or broken on purpose. */
const oddStep = fc.oneof(
  fc
    .string({ unit: 'binary', minLength: 1, maxLength: 12 })
    .map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom(
    '%',
    '%00',
    '%ff',
    '%2e%2e',
    '%2F',
    '..%2f..',
    'x'.repeat(3000),
    '0',
    '-1',
    '1e3',
    '__proto__',
  ),
);

function pathOf({ path, operation }: OperationAt, { params }: World): fc.Arbitrary<string> {
  const names = (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name);
  const steps = names.map((name) =>
    fc.oneof(
      { weight: RIGHT, arbitrary: fc.constant(encodeURIComponent(params[name] ?? 'x')) },
      { weight: 10 - RIGHT, arbitrary: oddStep },
    ),
  );
  return fc
    .tuple(...steps)
    .map((values) =>
      names.reduce((text, name, index) => text.replace(`{${name}}`, () => values[index] ?? ''), path),
    );
}

function queryOf({ parameters = [] }: Operation, { queries }: World): fc.Arbitrary<string> {
  const pairs = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, schema }) => {
      const known = queries[name];
      const right = known === undefined ? validValue(schema) : fc.constantFrom(known, `${known}x`);
      const value = fc.oneof(
        { weight: RIGHT, arbitrary: right },
        { weight: 10 - RIGHT, arbitrary: fc.oneof(hostileValue, oddStep) },
      );
      const pair = value.map((one) =>
        (schema['type'] === 'array' && Array.isArray(one) ? one : [one])
          .map((item) => `${name}=${encodeURIComponent(plainText(item).slice(0, 2000).toWellFormed())}`)
          .join('&'),
      );
      return fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 2, arbitrary: pair });
    });
  const raw = fc.constantFrom('', '', '', '&=&', '%', '?', 'window=24h&window=7d', '__proto__=1');
  return fc.tuple(...pairs, raw).map((parts) => parts.filter(Boolean).join('&'));
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function credentialOf(
  { security = [] }: Operation,
  { credentials }: World,
): fc.Arbitrary<Record<string, string>> {
  const names = security.flatMap((scheme) => Object.keys(scheme));
  const right = names.map((name) => credentials[name] ?? {});
  const broken = right
    .flatMap((headers) => Object.entries(headers))
    .map(([name, value]) => tampered(value).map((text) => ({ [name]: text })));
  return fc.oneof(
    { weight: RIGHT + 1, arbitrary: fc.constantFrom(...(right.length === 0 ? [{}] : right)) },
    { weight: 1, arbitrary: fc.constantFrom(...Object.values(credentials), {}) },
    {
      weight: 1,
      arbitrary: fc.oneof(
        fc.constant({ Authorization: 'Bearer' }),
        fc.constant({ Cookie: 'gate_session' }),
        ...broken,
      ),
    },
  );
}

/** A token, cookie or cursor with one character changed, cut off, or doubled. */
export function tampered(value: string): fc.Arbitrary<string> {
  const at = fc.nat(value.length - 1);
  return fc.oneof(
    fc
      .tuple(at, fc.constantFrom('A', 'a', '0', '.', '-', '_', '=', ';', ',', '"', '%', ' '))
      .map(([index, char]) => value.slice(0, index) + char + value.slice(index + 1)),
    at.map((index) => value.slice(0, index).trimEnd()),
    at.map((index) => value + value.slice(index)),
  );
}

const oddHeaders = fc.constantFrom<Record<string, string>[]>(
  { 'If-Match': '*' },
  { 'If-Match': '"x", W/"y"' },
  { 'If-None-Match': '"'.repeat(999) },
  { 'X-Request-Id': ' \t' },
  { Origin: 'https://elsewhere.example' },
  { Origin: 'null' },
  { Accept: 'text/html;q=0.1, */*' },
  { 'Content-Encoding': 'gzip' },
  { 'Content-Encoding': 'br' },
  { 'X-Forwarded-For': '::::, %, 1.2.3.4' },
  { Range: 'bytes=0-' },
);

type Sent = { body: string | undefined; headers: Record<string, string> };

function contentOf({ operationId, requestBody }: Operation, { bodies }: World): fc.Arbitrary<Sent> {
  const content = Object.values(requestBody?.content ?? {})[0];
  if (content === undefined) return fc.constant({ body: undefined, headers: {} });
  const known = bodies[operationId];
  const valid = known === undefined ? validValue(content.schema) : fc.constantFrom(...known);
  const json = fc.oneof(
    { weight: 4, arbitrary: valid },
    { weight: 5, arbitrary: valid.chain(nearlyValid) },
    { weight: 2, arbitrary: hostileValue },
  );
  const noJson = fc.constantFrom(
    '',
    '{',
    '[',
    'null',
    '{"a":1}x',
    '\ufeff{}',
    '{"__proto__":{}}',
    '['.repeat(50_000),
  );
  const body = fc.oneof(
    { weight: 8, arbitrary: json.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: noJson },
  );
  const type = fc.oneof(
    { weight: 9, arbitrary: fc.constant('application/json') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'text/plain',
        'application/json; charset=utf-16',
        ';;;',
        'application/json;'.repeat(100),
      ),
    },
  );
  return fc.record({ body, headers: type.map((name) => ({ 'Content-Type': name })) });
}
