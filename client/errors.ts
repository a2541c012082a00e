/** An argument that is wrong in itself. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}

/** Why there is no policy, or why one is refused: `code` names the reason; `status` is set when it came over HTTP. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
  readonly code: string;
  readonly status?: number;

  constructor(code: string, message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    if (status !== undefined) this.status = status;
  }
}

/** The message of whatever was thrown; never throws. */
export function messageOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    // A host with several addresses fails with an AggregateError, whose own message is empty.
    const inner = error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : '';
    return error.message || inner || error.name;
  } catch {
    return 'an error without a message';
  }
}
