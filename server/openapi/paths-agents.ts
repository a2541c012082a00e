import { editSchema, registrationSchema } from '../agents/bodies.ts';
import { checkSchema } from '../agents/check-policy.ts';
import type { ProblemCode } from '../errors.ts';
import { operation, type OperationGiven } from './operation.ts';
import { AGENT_NAME, PROJECT_ID } from './parameters.ts';
import { publicSchema, ref } from './schema.ts';

const BODY_PROBLEMS: ProblemCode[] = ['body_invalid', 'body_too_large'];
const tag = 'Agents and policies';

function readOf(
  id: string,
  summary: string,
  given: Pick<OperationGiven, 'answers'> & Partial<OperationGiven>,
) {
  const parameters = [PROJECT_ID, AGENT_NAME];
  const problems: ProblemCode[] = ['agent_unknown', 'store_unavailable', 'overloaded'];
  return operation({ id, tag, summary, credential: 'read', parameters, problems, ...given });
}

function ok(name: string) {
  return { 200: { description: 'OK', schema: ref(name) } };
}

export function agentPaths() {
  const fetchProblems: ProblemCode[] = ['agent_unknown', 'store_unavailable', 'overloaded'];
  return {
    '/v1/agents': {
      post: operation({
        id: 'registerAgent',
        tag,
        summary: 'Registers an agent from its name and its tools',
        description:
          'The first time makes a default policy and a signed bundle. Again never changes the policy.',
        credential: 'key',
        body: {
          schema: publicSchema(registrationSchema),
          example: { name: 'support-bot', tools: ['search'] },
        },
        answers: {
          200: { description: 'It was there', schema: ref('Registered') },
          201: { description: 'It is new', schema: ref('Registered') },
        },
        problems: [...BODY_PROBLEMS, 'store_unavailable', 'overloaded'],
      }),
    },
    '/v1/agents/{name}': {
      get: operation({
        id: 'fetchPolicy',
        tag,
        summary: "An agent's policy and signed bundle; conditional",
        credential: 'key',
        parameters: [AGENT_NAME, { name: 'If-None-Match', in: 'header', schema: { type: 'string' } }],
        answers: {
          200: { description: 'OK', schema: ref('Policy'), headers: ['ETag'] },
          304: { description: 'The caller has it', headers: ['ETag'] },
        },
        problems: fetchProblems,
      }),
    },
    '/v1/projects/{id}/agents': {
      get: readOf('listAgents', 'The agents of a project', {
        parameters: [PROJECT_ID],
        answers: ok('Agents'),
      }),
    },
    '/v1/projects/{id}/agents/{name}': {
      put: operation({
        id: 'saveAgent',
        tag,
        summary: 'Saves a policy, compiled and signed',
        credential: 'member',
        parameters: [PROJECT_ID, AGENT_NAME, { name: 'If-Match', in: 'header', schema: { type: 'string' } }],
        body: { schema: publicSchema(editSchema), example: { system_md: 'You help people.' } },
        answers: ok('Saved'),
        problems: [...BODY_PROBLEMS, 'policy_invalid', 'precondition_failed', ...fetchProblems],
      }),
    },
    '/v1/projects/{id}/agents/{name}/versions': {
      get: readOf('listVersions', 'The history of an agent, newest first', { answers: ok('Versions') }),
    },
    '/v1/projects/{id}/agents/{name}/versions/{version}': {
      get: readOf('showVersion', 'One version, whole', {
        parameters: [
          PROJECT_ID,
          AGENT_NAME,
          { name: 'version', in: 'path', schema: { type: 'integer', minimum: 1 } },
        ],
        answers: ok('Version'),
        problems: ['not_found', 'store_unavailable', 'overloaded'],
      }),
    },
    '/v1/projects/{id}/agents/{name}/check': {
      post: operation({
        id: 'checkPolicy',
        tag,
        summary: 'Tries a policy without saving it',
        credential: 'member',
        parameters: [PROJECT_ID, AGENT_NAME],
        body: {
          schema: publicSchema(checkSchema),
          example: { policy_yaml: 'version: 1\n', calls: [{ tool: 'search' }] },
        },
        answers: ok('Check'),
        problems: [...BODY_PROBLEMS, 'store_unavailable', 'overloaded'],
      }),
    },
    '/v1/projects/{id}/agents/{name}/fleet': {
      get: readOf('showFleet', 'Which versions clients hold', { answers: ok('Fleet') }),
    },
    '/v1/.well-known/keys': {
      get: operation({
        id: 'publicKeys',
        tag,
        summary: 'The public keys that verify bearer keys and bundles (RFC 7517)',
        answers: ok('KeySet'),
      }),
    },
  };
}
