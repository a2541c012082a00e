import type { Parameter } from './operation.ts';

export const PROJECT_ID: Parameter = {
  name: 'id',
  in: 'path',
  description: 'A project',
  schema: { type: 'string' },
};
export const AGENT_NAME: Parameter = {
  name: 'name',
  in: 'path',
  description: 'The name of an agent',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
};
