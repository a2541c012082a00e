/** What an error says; never throws, whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    // Several addresses of one host failing makes an AggregateError, whose own message is empty.
    const inner = error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : '';
    return error.message || inner || error.name;
  } catch {
    // Foreign code threw it, and what it throws may throw again where it is asked for its text.
    return 'an error without a message';
  }
}
