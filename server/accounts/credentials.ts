import type { Static } from 'typebox';
import { EMAIL_CHARS_MAX, PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN } from '../limits.ts';
import { bodyInvalid, createParser } from '../validate.ts';
import { Type } from '../type.ts';

/** Bounds values that are only compared, never stored. */
const COMPARED = Type.String({ maxLength: 10_000 });
const NEW_PASSWORD = Type.String({
  minLength: PASSWORD_CHARS_MIN,
  maxLength: PASSWORD_BYTES_MAX,
  format: 'text',
});

const EMAIL = Type.String({ maxLength: EMAIL_CHARS_MAX, format: 'email' });
const parseEmail = createParser<string>(EMAIL);
export const REGISTRATION = Type.Object({ email: EMAIL, password: NEW_PASSWORD });
/** Any text is accepted: a refusal would reveal whether an address can have an account. */
export const ANY_EMAIL = Type.Object({ email: COMPARED });
export const LOGIN = Type.Object({ email: COMPARED, password: COMPARED });
export const TOKEN = Type.Object({ token: COMPARED });
export const PASSWORD_CHANGE = Type.Object({ password: COMPARED, new_password: NEW_PASSWORD });
export const RESET = Type.Object({ token: COMPARED, password: NEW_PASSWORD });

export type Credentials = Static<typeof LOGIN>;

/** JSON Schema counts characters; this bound is in bytes. Throws body_invalid. */
export function requirePasswordBytes(password: string, path = '/password'): void {
  if (Buffer.byteLength(password) <= PASSWORD_BYTES_MAX) return;
  throw bodyInvalid([{ path, message: `must have at most ${PASSWORD_BYTES_MAX} bytes in UTF-8` }]);
}

export function isEmail(text: string): boolean {
  try {
    parseEmail(text);
    return true;
  } catch {
    return false;
  }
}
