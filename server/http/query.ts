import type { Request } from 'express';
import { type Fault, RequestError } from '../errors.ts';

/** The query of a request, each parameter once. Throws query_invalid for one that is repeated; unknown ones are ignored. */
export class Query {
  readonly #values: Map<string, string>;

  constructor(req: Request, names: readonly string[]) {
    // By hand and once: req.query is parsed again at each read.
    const params = new URL(req.originalUrl, 'http://localhost').searchParams;
    this.#values = new Map();
    for (const name of names) {
      const all = params.getAll(name);
      const [first] = all;
      if (all.length > 1)
        throw queryInvalid({ path: name, message: `is given ${all.length} times; give it once` });
      if (first !== undefined) this.#values.set(name, first);
    }
  }

  /** Undefined when absent; '' when it is there and empty. */
  text(name: string): string | undefined {
    return this.#values.get(name);
  }

  integer(name: string, { fallback, min, max }: { fallback: number; min: number; max: number }): number {
    const text = this.#values.get(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d{1,10}$/.test(text) && value >= min && value <= max) return value;
    throw queryInvalid({
      path: name,
      message: `must be a whole number from ${min} to ${max}, not "${text}"`,
    });
  }

  choice<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const text = this.#values.get(name);
    if (text === undefined) return undefined;
    const found = allowed.find((value) => value === text);
    if (found === undefined)
      throw queryInvalid({ path: name, message: `must be one of ${allowed.join(', ')}, not "${text}"` });
    return found;
  }
}

export function queryInvalid(fault: Fault): RequestError {
  return new RequestError('query_invalid', `${fault.path} ${fault.message}`, { errors: [fault] });
}
