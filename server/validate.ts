import { Ajv, type ErrorObject, type Schema, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { isAgentName } from './agent-name.ts';
import { isScope, SCOPES } from './rights.ts';
import { type Fault, RequestError } from './errors.ts';
import { parseRfc3339 } from './rfc3339.ts';
import { Type } from './type.ts';

const TOOL_NAME_BYTES_MAX = 128;

// allErrors stays off: Ajv's security notes advise against it for untrusted input.
const ajv = new Ajv({
  allErrors: false,
  strict: true,
  strictTypes: false,
  allowUnionTypes: true,
  useDefaults: true,
  verbose: true,
});
ajv.addVocabulary(['x-problem']);
addFormatsModule.default(ajv, ['uuid', 'email']);
ajv.addFormat('date-time', { type: 'string', validate: (text: string) => parseRfc3339(text) !== undefined });
/** Text that the store can keep: no NUL, no lone surrogate. */
ajv.addFormat('text', {
  type: 'string',
  validate: (text: string) => !text.includes('\0') && text.isWellFormed(),
});

ajv.addFormat('agent-name', { type: 'string', validate: isAgentName });
/** A text for people: lines without other control characters. */
ajv.addFormat('note', {
  type: 'string',
  validate: (text: string) => text.isWellFormed() && !/[^\P{Cc}\n]/u.test(text),
});
ajv.addFormat('scope', { type: 'string', validate: isScope });
ajv.addFormat('tool-name', { type: 'string', validate: isToolName });

function isToolName(text: string): boolean {
  return (
    text.isWellFormed() &&
    text !== '*' &&
    !/\p{Cc}/u.test(text) &&
    Buffer.byteLength(text) <= TOOL_NAME_BYTES_MAX
  );
}

type TextOptions = { minLength?: number; default?: string; description?: string };

/** The schema of a string of at most `maxLength` Unicode code points that the store can keep. */
export function text(maxLength: number, options: TextOptions = {}) {
  return Type.String({ ...options, maxLength, format: 'text' });
}

const HINTS: Record<string, string> = {
  'date-time': 'must be an RFC 3339 time with a zone, as in 2026-01-31T12:00:00.000Z',
  text: 'must not contain a NUL character or a lone surrogate',
  'agent-name': 'must be 1 to 200 characters of any kind but / and control characters, and not . or ..',
  note: 'must not contain control characters but line feeds, and no lone surrogate',
  scope: `must be one or more of ${SCOPES.join(', ')}, with a space between them`,
  'tool-name': 'must be 1 to 128 bytes without control characters, and not *',
  uuid: 'must be a UUID, as in 123e4567-e89b-12d3-a456-426614174000',
  email: 'must be an e-mail address',
};

/**
 * Returns the parser of a schema. It fills in defaults, or throws the error that `fail` returns for the faults, of which the first counts.
 * The schema is compiled at the first use: at the start, compiling all of them took a tenth of a second.
 */
export function createParser<T>(
  schema: Schema,
  fail: (faults: Fault[], value: unknown) => RequestError = bodyInvalid,
): (value: unknown) => T {
  let validate: ValidateFunction<T> | undefined;
  return (value) => {
    validate ??= ajv.compile<T>(schema);
    if (validate(value)) return value;
    throw fail(deepestOf(validate.errors ?? []).map(faultFrom), value);
  };
}

export function bodyInvalid(errors: Fault[]): RequestError {
  const [first] = errors;
  const detail = first === undefined ? 'Not valid' : `${first.path || 'The body'} ${first.message}`;
  return new RequestError('body_invalid', detail, { errors });
}

/**
 * If a value may have several types, Ajv lists the faults for each. The intended type is the one that fits down to the deepest position.
 */
function deepestOf(errors: ErrorObject[]): ErrorObject[] {
  const depthOf = ({ instancePath, keyword }: ErrorObject) =>
    instancePath.split('/').length + (keyword === 'required' ? 1 : 0);
  const depth = Math.max(...errors.map(depthOf));
  return errors.filter((error) => depthOf(error) === depth && error.keyword !== 'anyOf');
}

function faultFrom({ instancePath, keyword, params, message, data }: ErrorObject): Fault {
  if (keyword === 'required')
    return { path: `${instancePath}/${String(params['missingProperty'])}`, message: 'is required' };
  return { path: instancePath, message: messageFrom(keyword, params, data) ?? message ?? 'is not valid' };
}

function messageFrom(keyword: string, params: Record<string, unknown>, data: unknown): string | undefined {
  switch (keyword) {
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
    case 'format':
      return HINTS[String(params['format'])];
    case 'pattern':
      return HINTS['uuid'];
    case 'type': {
      const types = [params['type']].flat();
      return `must be ${types.join(' or ')}, not ${kindOf(data, types)}`;
    }
    case 'maxLength':
      return `must have at most ${String(params['limit'])} characters`;
    default:
      return undefined;
  }
}

function kindOf(value: unknown, wanted: unknown[]): string {
  if (value === null) return 'null';
  if (typeof value === 'number' && (wanted.includes('integer') || wanted.includes('number')))
    return Number.isFinite(value) ? 'a number with a fraction' : 'a number that is too large';
  return Array.isArray(value) ? 'array' : typeof value;
}
