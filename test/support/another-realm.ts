import { runInNewContext } from 'node:vm';

/** An error that is no instance of this realm's Error, with these properties. */
export function ofAnotherRealm(properties: object): Error {
  return Object.assign(runInNewContext('new Error()') as Error, properties);
}
