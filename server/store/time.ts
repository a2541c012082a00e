/** Milliseconds since the epoch as DateTime64(3, 'UTC') reads them: YYYY-MM-DD hh:mm:ss.mmm. */
export function clickhouseTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, -1).replace('T', ' ');
}

/** The same to the second, as DateTime('UTC') reads it. */
export function clickhouseSeconds(ms: number): string {
  return clickhouseTime(ms).slice(0, 19);
}

/** The day (UTC), as Date reads it. */
export function clickhouseDay(ms: number): string {
  return clickhouseTime(ms).slice(0, 10);
}

/** A DateTime64(3, 'UTC') as the store prints it, in RFC 3339. */
export function rfc3339FromClickhouse(text: string): string {
  return `${text.replace(' ', 'T')}Z`;
}

/** The same in milliseconds since the epoch. */
export function msFromClickhouse(text: string): number {
  return Date.parse(rfc3339FromClickhouse(text));
}
