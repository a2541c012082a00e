import { RequestError } from '../errors.ts';
import { EMAIL_CHARS_MAX, PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN } from '../limits.ts';
import { createParser } from '../validate.ts';

const NEW_PASSWORD = {
  type: 'string',
  minLength: PASSWORD_CHARS_MIN,
  maxLength: PASSWORD_BYTES_MAX,
  format: 'text',
} as const;

/** The bodies of the account endpoints (CONTRACT 8). Unknown keys have no effect. */
export const ACCOUNT_BODIES = {
  register: {
    type: 'object',
    required: ['email', 'password'],
    properties: {
      email: { type: 'string', maxLength: EMAIL_CHARS_MAX, format: 'email' },
      password: NEW_PASSWORD,
    },
  },
  // Any text is taken: "always 202", and whoever asks learns nothing from what is refused.
  email: {
    type: 'object',
    required: ['email'],
    properties: { email: { type: 'string', maxLength: 10_000 } },
  },
  login: {
    type: 'object',
    required: ['email', 'password'],
    properties: {
      email: { type: 'string', maxLength: 10_000 },
      password: { type: 'string', maxLength: 10_000 },
    },
  },
  token: {
    type: 'object',
    required: ['token'],
    properties: { token: { type: 'string', maxLength: 10_000 } },
  },
  resetPassword: {
    type: 'object',
    required: ['token', 'password'],
    properties: { token: { type: 'string', maxLength: 10_000 }, password: NEW_PASSWORD },
  },
} as const;

export type Credentials = { email: string; password: string };

const parseRegisterSchema = createParser<Credentials>(ACCOUNT_BODIES.register);
const parseResetSchema = createParser<{ token: string; password: string }>(ACCOUNT_BODIES.resetPassword);

export const parseEmail = createParser<{ email: string }>(ACCOUNT_BODIES.email);
export const parseLogin = createParser<Credentials>(ACCOUNT_BODIES.login);
export const parseToken = createParser<{ token: string }>(ACCOUNT_BODIES.token);

export function parseRegister(value: unknown): Credentials {
  const { email, password } = parseRegisterSchema(value);
  requireBytes(password);
  return { email, password };
}

export function parseReset(value: unknown): { token: string; password: string } {
  const { token, password } = parseResetSchema(value);
  requireBytes(password);
  return { token, password };
}

/** JSON Schema counts characters; the bound is in bytes. */
function requireBytes(password: string): void {
  if (Buffer.byteLength(password) <= PASSWORD_BYTES_MAX) return;
  const message = `must have at most ${PASSWORD_BYTES_MAX} bytes in UTF-8`;
  throw new RequestError('body_invalid', `/password ${message}`, {
    errors: [{ path: '/password', message }],
  });
}
