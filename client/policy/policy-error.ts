/** Everything that can go wrong with a policy: `code` is from a closed list, `status` only comes from HTTP. */
export class PolicyError extends Error {
  readonly code: string;
  readonly status?: number;

  constructor(code: string, message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'PolicyError';
    this.code = code;
    if (status !== undefined) this.status = status;
  }
}
