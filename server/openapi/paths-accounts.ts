import { ACCOUNT_BODIES } from '../accounts/schemas.ts';
import type { ProblemCode } from '../errors.ts';
import { KEY_BODIES } from '../keys/routes.ts';
import { PROJECT_BODIES } from '../projects/routes.ts';
import { operation, type OperationGiven } from './operation.ts';
import { PROJECT_ID } from './parameters.ts';
import { publicSchema, ref } from './schema.ts';

const BODY_PROBLEMS: ProblemCode[] = ['body_invalid', 'body_too_large', 'store_unavailable'];
const EMAIL = { email: 'ada@example.com' };
const CREDENTIALS = { ...EMAIL, password: 'correct horse battery staple' };

type Call = Pick<OperationGiven, 'answers'> & Partial<OperationGiven>;

function account(id: string, summary: string, { problems = [], ...given }: Call) {
  const all: ProblemCode[] = [...BODY_PROBLEMS, 'forbidden', ...problems];
  return { post: operation({ id, tag: 'Accounts', summary, problems: all, ...given }) };
}

function member(id: string, summary: string, { problems = [], parameters = [], ...given }: Call) {
  const all: ProblemCode[] = ['store_unavailable', ...problems];
  const place = [PROJECT_ID, ...parameters];
  return operation({
    id,
    tag: 'Projects',
    summary,
    credential: 'session',
    parameters: place,
    problems: all,
    ...given,
  });
}

function answer(status: number, name: string) {
  return { [status]: { description: 'OK', schema: ref(name) } };
}

const DONE = { 204: { description: 'Done' } };
const body = (schema: unknown, example: unknown) => ({ schema: publicSchema(schema), example });

export function accountPaths() {
  const session = { credential: 'session' } as const;
  return {
    '/v1/auth/register': account('register', 'Makes an account and its first project; sends no mail', {
      body: body(ACCOUNT_BODIES.register, CREDENTIALS),
      answers: answer(201, 'Account'),
      problems: ['conflict', 'rate_limited', 'overloaded'],
    }),
    '/v1/auth/request-verify-token': account('requestVerifyToken', 'Mails a link that verifies the e-mail', {
      body: body(ACCOUNT_BODIES.email, EMAIL),
      answers: answer(202, 'Mailed'),
    }),
    '/v1/auth/verify': account('verify', 'Uses the token of that link', {
      body: body(ACCOUNT_BODIES.token, { token: 'from-the-mail' }),
      answers: answer(200, 'Account'),
      problems: ['token_invalid', 'rate_limited'],
    }),
    '/v1/auth/forgot-password': account('forgotPassword', 'Mails a link that sets a new password', {
      body: body(ACCOUNT_BODIES.email, EMAIL),
      answers: answer(202, 'Mailed'),
    }),
    '/v1/auth/reset-password': account('resetPassword', 'Uses the token of that link; ends all sessions', {
      body: body(ACCOUNT_BODIES.resetPassword, { token: 'from-the-mail', password: CREDENTIALS.password }),
      answers: answer(200, 'Account'),
      problems: ['token_invalid', 'rate_limited', 'overloaded'],
    }),
    '/v1/auth/login': account('login', 'Begins a session: sets the cookie gate_session', {
      body: body(ACCOUNT_BODIES.login, CREDENTIALS),
      answers: { 200: { description: 'OK', schema: ref('Account'), headers: ['Set-Cookie'] } },
      problems: ['unauthenticated', 'rate_limited', 'overloaded'],
    }),
    '/v1/auth/logout': account('logout', 'Ends the session', { ...session, answers: DONE }),
    '/v1/auth/me': {
      get: operation({
        id: 'me',
        tag: 'Accounts',
        summary: 'Whose session this is, and its projects',
        ...session,
        answers: answer(200, 'Me'),
        problems: ['store_unavailable'],
      }),
    },
    ...projectPaths(),
  };
}

function projectPaths() {
  const keyId = { name: 'key_id', in: 'path', schema: { type: 'string' } } as const;
  const accountId = { name: 'account_id', in: 'path', schema: { type: 'string' } } as const;
  const own = { id: 'listProjects', tag: 'Projects', credential: 'session' } as const;
  const limit = {
    name: 'limit',
    in: 'query',
    schema: { type: 'integer', minimum: 1, maximum: 500, default: 50 },
  } as const;
  const cursor = { name: 'cursor', in: 'query', schema: { type: 'string' } } as const;
  return {
    '/v1/projects': {
      get: operation({
        ...own,
        summary: 'Own projects',
        answers: answer(200, 'Projects'),
        problems: ['store_unavailable'],
      }),
      post: operation({
        ...own,
        id: 'createProject',
        summary: 'Makes a project',
        body: body(PROJECT_BODIES.create, { name: 'Support' }),
        answers: answer(201, 'Project'),
        problems: [...BODY_PROBLEMS, 'conflict'],
      }),
    },
    '/v1/projects/{id}/members': {
      get: member('listMembers', 'The members, the owner first', { answers: answer(200, 'Members') }),
      post: member('addMember', 'Lets a verified account in', {
        body: body(PROJECT_BODIES.addMember, EMAIL),
        answers: answer(201, 'Member'),
        problems: [...BODY_PROBLEMS, 'not_found', 'conflict'],
      }),
    },
    '/v1/projects/{id}/members/{account_id}': {
      delete: member('removeMember', 'Lets an account out', {
        parameters: [accountId],
        answers: DONE,
        problems: ['not_found', 'conflict'],
      }),
    },
    '/v1/projects/{id}/keys': {
      get: member('listKeys', 'The bearer keys, without the keys themselves', {
        answers: answer(200, 'Keys'),
      }),
      post: member('issueKey', 'Issues a bearer key; it is shown only here', {
        body: body(KEY_BODIES.issue, { name: 'production', expires_in_days: 90 }),
        answers: answer(201, 'IssuedKey'),
        problems: BODY_PROBLEMS,
      }),
    },
    '/v1/projects/{id}/keys/{key_id}': {
      delete: member('revokeKey', 'Revokes a key, for good', {
        parameters: [keyId],
        answers: DONE,
        problems: ['not_found'],
      }),
    },
    '/v1/projects/{id}/activity': {
      get: member('listActivity', 'What people did, newest first', {
        parameters: [limit, cursor],
        answers: answer(200, 'Activity'),
        problems: ['query_invalid'],
      }),
    },
  };
}
