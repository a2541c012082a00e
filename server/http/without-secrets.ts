/** Bearer keys and mailed tokens are at least this long; a UUID has 36 characters. */
const LONG_WORD = /[\w.~-]{40,}/g;
/** Base64url text has both; the long name of an agent seldom does. */
const isRandom = (word: string) => /[A-Z]/.test(word) && /\d/.test(word);
const PARAMETER = /([?&][^=&#?]*=)[^&#]*/g;
/** The code in the callback of single sign-on is included (RFC 6749 section 4.1.2). */
const SECRET_NAME = /token|key|pass|pwd|secret|auth|bearer|jwt|credential|session|cookie|^.(code|state)=$/i;

/** A URL, even a malformed one, may contain mailed tokens and bearer keys, which must not reach a log or an error. */
export function withoutSecrets(url: string): string {
  return url
    .replace(/\/(verify-email|reset-password)\/[^/?#]+/gi, '/$1/[redacted]')
    .replace(PARAMETER, (whole, name: string) => (SECRET_NAME.test(name) ? `${name}[redacted]` : whole))
    .replace(LONG_WORD, (word) => (isRandom(word) ? '[redacted]' : word));
}
