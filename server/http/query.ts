import type { Static, TObject } from 'typebox';
import { type Fault, RequestError } from '../errors.ts';
import { createParser } from '../validate.ts';
import { withoutSecrets } from './without-secrets.ts';

/** The parts of a parameter's schema that are used here. */
type Parameter = {
  type?: string;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  'x-problem'?: 'window_invalid';
};

const VALUE_CHARS_MAX = 200;

/**
 * Returns a parser of the query string. Each parameter may occur once, and a list as often as it has values. Values are validated, and
 * defaults filled in. Parameters that are not declared have no effect. The parser throws query_invalid, or the `x-problem` of the
 * parameter's schema.
 */
export function createQueryParser<Q extends TObject>(schema: Q): (url: string) => Static<Q> {
  const parameters = new Map(Object.entries<Parameter>(schema.properties));
  const parse = createParser<Static<Q>>(schema, ([fault], values) => {
    const [, name = '', index] = (fault?.path ?? '').split('/');
    const { type, minimum, maximum, 'x-problem': code } = parameters.get(name) ?? {};
    const range = `must be a whole number from ${minimum} to ${maximum}`;
    const given = (values as Record<string, unknown>)[name];
    if (given === undefined) return queryInvalid({ path: name, message: fault?.message ?? '' }, code);
    const value = String(Array.isArray(given) ? given[Number(index)] : given);
    const message = `${type === 'integer' ? range : fault?.message}, not ${quoted(value)}`;
    return queryInvalid({ path: name, message }, code);
  });
  return (url) => {
    const { search, searchParams: given } = new URL(url, 'http://localhost');
    for (const pair of search.slice(1).split('&')) {
      const [name = ''] = new URLSearchParams(pair).keys();
      if (parameters.has(name) && !isUtf8(pair))
        throw queryInvalid(
          { path: name, message: 'is not percent-encoded UTF-8' },
          parameters.get(name)?.['x-problem'],
        );
    }
    const values: Record<string, string | number | string[]> = {};
    for (const [name, { type, maxItems = 1 }] of parameters) {
      const all = given.getAll(name);
      const [value] = all;
      if (all.length > maxItems) {
        const often = maxItems === 1 ? 'once' : `at most ${maxItems} times`;
        throw queryInvalid({ path: name, message: `is given ${all.length} times; give it ${often}` });
      }
      if (value === undefined) continue;
      if (type === 'array') values[name] = all;
      else values[name] = type === 'integer' && /^\d{1,10}$/.test(value) ? Number(value) : value;
    }
    return parse(values);
  };
}

/** The value of a parameter in an error, without what may be a secret. */
export function quoted(value: string): string {
  return `"${withoutSecrets(value).slice(0, VALUE_CHARS_MAX)}"`;
}

/** `URLSearchParams` would replace invalid bytes by U+FFFD, and keeps a `%` that encodes nothing. */
function isUtf8(encoded: string): boolean {
  try {
    decodeURIComponent(encoded.replace(/%(?![\da-f]{2})/gi, '%25'));
    return true;
  } catch {
    return false;
  }
}

export function queryInvalid(fault: Fault, code: 'query_invalid' | 'window_invalid' = 'query_invalid') {
  return new RequestError(code, `${fault.path} ${fault.message}`, { errors: [fault] });
}
