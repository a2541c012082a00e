import type { Static } from 'typebox';
import { DEFAULT_SCOPE } from '../rights.ts';
import { AGENT_NAME_CHARS_MAX, KEY_AGENTS_MAX, KEY_DAYS_MAX, KEY_NAME_CHARS_MAX } from '../limits.ts';
import { createParser, text } from '../validate.ts';
import { Type } from '../type.ts';

/** The body that issues a bearer key. */
export const NEW_KEY = Type.Object({
  name: text(KEY_NAME_CHARS_MAX, { default: '' }),
  expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: KEY_DAYS_MAX })),
  scope: Type.String({
    format: 'scope',
    default: DEFAULT_SCOPE,
    description: 'What the key may do: scopes with a space between them',
  }),
  agents: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: AGENT_NAME_CHARS_MAX, format: 'agent-name' }), {
      minItems: 1,
      maxItems: KEY_AGENTS_MAX,
      description: 'The agents for which the key records, fetches, registers and saves. Absent: all agents.',
    }),
  ),
});

export type NewKey = Static<typeof NEW_KEY>;

/** The parsed request for a key, with its defaults. Throws body_invalid. */
export const parseNewKey = createParser<NewKey>(NEW_KEY);
