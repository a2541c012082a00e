import { plainCopy } from './plain-copy.ts';

/** Spec 2.4: what stands in the place of a secret. */
export const REDACTED = '[REDACTED]';

const SECRET_KEY = /password|passwd|secret|token|api[_\- ]?key|credential|authorization/i;

/** A plain copy without the values whose key names a secret; never throws, and twice is the same as once. */
export function redact(value: unknown): unknown {
  return plainCopy(value, (key) => (SECRET_KEY.test(key) ? REDACTED : undefined));
}
