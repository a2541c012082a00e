import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';

type Schema = Record<string, unknown>;
type Content = Record<string, { schema: Schema; example?: unknown }>;
export type Parameter = { name: string; in: string; schema: Schema; example?: unknown };
export type Operation = {
  operationId: string;
  tags: [string];
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content; headers?: Schema }>;
};
export type Document = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: Schema;
};
export type OperationAt = { path: string; method: string; operation: Operation };
/** The response. Header names are in lower case. */
export type Answer = { status: number; headers: Record<string, string | undefined>; text: string };

/** The answers that a cache may keep, or must ask about. */
const CACHE_CONTROL: Record<string, string> = {
  readTile: 'public, max-age=31536000, immutable',
  publicKeys: 'public, max-age=300',
  fetchPolicy: 'private, no-cache',
};

export async function readDocument(url: string): Promise<Document> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as Document;
}

export function operationsOf({ paths }: Document): OperationAt[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
}

/** Returns how an answer differs from the document: its status, its type, its headers, its body. */
export function createAnswerCheck(
  document: Document,
): (at: OperationAt, answer: Answer) => string | undefined {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormatsModule.default(ajv);
  ajv.addSchema({ $id: 'document', ...document });
  return ({ path, method, operation }, { status, headers, text }) => {
    const declared = operation.responses[String(status)];
    if (declared === undefined) return 'this status is not described';
    const missing = Object.keys(declared.headers ?? {}).filter(
      (name) => headers[name.toLowerCase()] === undefined,
    );
    if (missing.length > 0) return `without ${missing.join(', ')}`;
    if (headers['x-content-type-options'] !== 'nosniff') return 'may be sniffed';
    const isGood = status < 400;
    const cache = (isGood && CACHE_CONTROL[operation.operationId]) || 'private, no-store';
    if (path.startsWith('/v1/') && headers['cache-control'] !== cache) return 'has another Cache-Control';
    const type = (headers['content-type'] ?? '').replace(/;.*/, '');
    if (!Object.keys(declared.content ?? { '': {} }).includes(type)) return `has the type "${type}"`;
    if (!/[/+]json$/.test(type) || text === '') return undefined;
    const steps = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', type];
    const validate = ajv.getSchema(`document#/${steps.map(escaped).join('/')}/schema`);
    if (validate === undefined) return 'has no schema';
    return validate(JSON.parse(text)) === true ? undefined : ajv.errorsText(validate.errors);
  };
}

/** A step of a JSON pointer in a URI (RFC 6901 section 6). */
function escaped(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');
}
