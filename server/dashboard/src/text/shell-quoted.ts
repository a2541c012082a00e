import { HIDDEN } from './inert-text.ts';

/** JSON as one word of the shell. Deceptive characters are escaped, so that the command does what it shows. */
export function shellQuoted(value: object): string {
  const json = JSON.stringify(value).replace(HIDDEN, (text) =>
    Array.from({ length: text.length }, (_, at) => escaped(text.charCodeAt(at))).join(''),
  );
  return `'${json.replaceAll("'", String.raw`'\''`)}'`;
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
