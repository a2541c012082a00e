/** Bearer keys and mailed tokens are at least this long; a UUID has 36 characters. */
const LONG_WORD = /[\w.~-]{40,}/g;
/** Base64url text has both; the long name of an agent seldom does. */
const isRandom = (word: string) => /[A-Z]/.test(word) && /\d/.test(word);
const PARAMETER = /([?&][^=&#?]*=)[^&#]*/g;
/** The code in the callback of single sign-on is included (RFC 6749 section 4.1.2). */
const SECRET_NAME = /token|key|pass|pwd|secret|auth|bearer|jwt|credential|session|cookie|^.(code|state)=$/i;

/** The page of a mailed link. Its router decodes the path, and the log must not keep what the router takes for a token. */
const MAILED_LINK = /\/(verify-email|reset-password)\/./is;
const ESCAPE = /%([\da-f]{2})/gi;

/** A URL, even a malformed one, may contain mailed tokens and bearer keys, which must not reach a log or an error. */
export function withoutSecrets(url: string): string {
  const decoded = url.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const page = MAILED_LINK.exec(decoded)?.[1];
  if (page !== undefined) return `/${page}/[redacted]`;
  return url
    .replace(PARAMETER, (whole, name: string) => (SECRET_NAME.test(name) ? `${name}[redacted]` : whole))
    .replace(LONG_WORD, (word) => (isRandom(word) ? '[redacted]' : word));
}
