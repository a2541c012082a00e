/** An argument that is invalid in itself. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}

/** Why there is no policy, or why one is refused. The package's README says what each means. */
export type PolicyErrorCode =
  | 'agent_mismatch'
  | 'agent_unknown'
  | 'bundle_expired'
  | 'bundle_incomplete'
  | 'bundle_invalid'
  | 'bundle_missing'
  | 'bundle_outdated'
  | 'key_malformed'
  | 'key_set_invalid'
  | 'key_set_unavailable'
  | 'key_signature_invalid'
  | 'local_policy_unreadable'
  | 'manifest_invalid'
  | 'module_invalid'
  | 'platform_error'
  | 'policy_invalid'
  | 'policy_missing'
  | 'project_mismatch'
  | 'public_key_invalid'
  | 'public_key_missing'
  | 'record_hash_mismatch'
  | 'record_invalid'
  | 'signature_invalid'
  | 'signing_key_untrusted'
  | 'state_unavailable'
  | 'unauthenticated'
  | 'unreachable'
  | 'version_rollback'
  | 'wasm_hash_mismatch'
  | 'wasm_unavailable'
  | 'worker_unavailable';

/** There is no policy, or one is refused: `code` names the reason; `status` is set when it came over HTTP. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
  readonly code: PolicyErrorCode;
  readonly status?: number;

  constructor(
    code: PolicyErrorCode,
    message: string,
    { status, cause }: { status?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    if (status !== undefined) this.status = status;
  }
}

/** The message of whatever was thrown; never throws. */
export function messageOf(error: unknown): string {
  try {
    // Not `instanceof`: the errors of Node are not those of the global scope in Jest.
    const { message, errors, name } = Object(error) as Partial<AggregateError>;
    if (typeof message !== 'string') return String(error);
    // A host with several addresses fails with an AggregateError, whose own message is empty.
    return message || errors?.map(messageOf).join('; ') || name || '';
  } catch {
    return 'an error without a message';
  }
}
