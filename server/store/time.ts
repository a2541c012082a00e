/** Milliseconds since the epoch as DateTime64(3, 'UTC') reads them: YYYY-MM-DD hh:mm:ss.mmm. */
export function clickhouseTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, -1).replace('T', ' ');
}

/** The inverse: a DateTime64(3, 'UTC') as the store prints it, in RFC 3339. */
export function rfc3339FromClickhouse(text: string): string {
  return `${text.replace(' ', 'T')}Z`;
}
