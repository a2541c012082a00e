import type { Static } from 'typebox';
import { PROJECT_NAME_CHARS_MAX } from '../limits.ts';
import { bodyInvalid, createParser } from '../validate.ts';
import { Type } from '../type.ts';

/** The body that creates a project. */
export const NEW_PROJECT = Type.Object({
  name: Type.String({ minLength: 1, maxLength: PROJECT_NAME_CHARS_MAX, format: 'text' }),
});

const parseNewProject = createParser<Static<typeof NEW_PROJECT>>(NEW_PROJECT);

/** The name without surrounding spaces. Throws body_invalid. */
export function parseProjectName(body: unknown): string {
  const name = parseNewProject(body).name.trim();
  if (name === '') throw bodyInvalid([{ path: '/name', message: 'must not be blank' }]);
  return name;
}
