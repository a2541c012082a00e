import { RequestError } from '../errors.ts';
import { PROJECT_NAME_CHARS_MAX } from '../limits.ts';
import { createParser } from '../validate.ts';

/** Whoever makes a project gives this. */
export const NEW_PROJECT = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', minLength: 1, maxLength: PROJECT_NAME_CHARS_MAX, format: 'text' } },
} as const;

const parseNewProject = createParser<{ name: string }>(NEW_PROJECT);

/** The name without the spaces around it. Rejects with body_invalid. */
export function parseProjectName(body: unknown): string {
  const name = parseNewProject(body).name.trim();
  if (name !== '') return name;
  throw new RequestError('body_invalid', '/name must not be blank', {
    errors: [{ path: '/name', message: 'must not be blank' }],
  });
}
