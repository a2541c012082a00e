import { randomUUID } from 'node:crypto';
import { eventually } from './eventually.ts';
import type { RunningService, TestService } from './service.ts';

export const PASSWORD = 'correct horse battery';

export type Person = { id: string; email: string; cookie: string; project: { id: string; name: string } };
export type Call = {
  method?: string;
  cookie?: string;
  key?: string;
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal | undefined;
};

type Running = Pick<RunningService, 'url'>;

/** One call; a body is sent as JSON. */
export function call(
  { url }: Running,
  path: string,
  { method, cookie, key, headers, body, signal }: Call = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    signal: signal ?? null,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(cookie === undefined ? {} : { Cookie: cookie }),
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

export async function jsonOf<T>(response: Response | Promise<Response>): Promise<T> {
  return (await (await response).json()) as T;
}

export function newEmail(): string {
  return `${randomUUID().slice(0, 8)}@example.com`;
}

export function register(service: Running, email: string, password = PASSWORD): Promise<Response> {
  return call(service, '/v1/auth/register', { body: { email, password } });
}

export function logIn(service: Running, email: string, password = PASSWORD): Promise<Response> {
  return call(service, '/v1/auth/login', { body: { email, password } });
}

/** The cookie as a browser would return it. */
export function cookieOf(response: Response): string {
  return (response.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
}

/** The cookie of a new session of the demo account. */
export async function demoCookie(service: TestService): Promise<string> {
  const { email = '', password } = service.demo.dashboard ?? {};
  return cookieOf(await logIn(service, email, password));
}

/** A new account that is signed in, with its first project. */
export async function newPerson(service: Running, email = newEmail()): Promise<Person> {
  await register(service, email);
  const cookie = cookieOf(await logIn(service, email));
  const me = await jsonOf<{ id: string; projects: Person['project'][] }>(
    call(service, '/v1/auth/me', { cookie }),
  );
  const [project] = me.projects;
  if (project === undefined) throw new Error('A new account has no project');
  return { id: me.id, email, cookie, project };
}

export type TokenKind = 'verify' | 'reset';
const PATHS = {
  verify: ['request-verify-token', 'verify-email'],
  reset: ['forgot-password', 'reset-password'],
} as const;

/** `address` is the caller's, for a service behind a trusted proxy. */
export function requestToken(
  service: Running,
  kind: TokenKind,
  email: string,
  address = '127.0.0.1',
): Promise<Response> {
  const headers = { 'X-Forwarded-For': address };
  return call(service, `/v1/auth/${PATHS[kind][0]}`, { headers, body: { email } });
}

/** Requests a mail and takes the token from the output of the dev sender. */
export async function mailedToken(service: RunningService, kind: TokenKind, email: string): Promise<string> {
  const before = service.output().length;
  await requestToken(service, kind, email);
  const link = new RegExp(`/${PATHS[kind][1]}/([\\w-]+)\\n`);
  return eventually(() => link.exec(service.output().slice(before))?.[1]);
}

export function useToken(
  service: Running,
  kind: TokenKind,
  token: string,
  password = PASSWORD,
): Promise<Response> {
  if (kind === 'verify') return call(service, '/v1/auth/verify', { body: { token } });
  return call(service, '/v1/auth/reset-password', { body: { token, password } });
}

/** A new account with a verified e-mail. */
export async function newVerifiedPerson(service: RunningService): Promise<Person> {
  const person = await newPerson(service);
  await useToken(service, 'verify', await mailedToken(service, 'verify', person.email));
  return person;
}

/** A new account, made a member of the owner's project. */
export async function newMember(
  service: RunningService,
  { cookie, project }: Pick<Person, 'cookie' | 'project'>,
  role: string,
): Promise<Person> {
  const person = await newVerifiedPerson(service);
  await call(service, `/v1/projects/${project.id}/members`, { cookie, body: { email: person.email, role } });
  return person;
}

export async function codeOf(response: Response | Promise<Response>): Promise<string> {
  return (await jsonOf<{ code: string }>(response)).code;
}
