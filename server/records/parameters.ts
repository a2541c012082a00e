import { oneOf, PAGE } from '../http/schemas.ts';
import { GROUPS_MAX } from './counts.ts';
import { DIMENSION_NAMES } from './breakdown.ts';
import { USAGE_DIMENSION_NAMES } from './llm-usage.ts';
import { WINDOW_NAMES } from './window.ts';
import { Type } from '../type.ts';

const edge = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', description, 'x-problem': 'window_invalid' }));

/** The query parameters of every read. */
export const RANGE = {
  window: Type.Optional(
    oneOf(WINDOW_NAMES, {
      description: 'How far to look back from now, without an upper end. `24h` when nothing else is given.',
      examples: ['7d'],
      'x-problem': 'window_invalid',
    }),
  ),
  from: edge('Instead of `window`: records from this time on. At most 90 days before `to`.'),
  to: edge('With `from`: records before this time'),
};

export const OFFSET_PAGE = {
  limit: PAGE.limit,
  offset: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 0,
    description: 'How many records to skip. Use `cursor` to go further.',
  }),
  cursor: PAGE.cursor,
};

const LIST = {
  limit: Type.Integer({
    minimum: 1,
    maximum: GROUPS_MAX,
    default: 50,
    description: 'The length of the list',
  }),
};
export const BREAKDOWN = {
  by: oneOf(DIMENSION_NAMES, { description: 'What to count by', examples: ['reason'] }),
  ...LIST,
};
export const USAGE_BREAKDOWN = {
  by: oneOf(USAGE_DIMENSION_NAMES, { description: 'What to sum up by', examples: ['user_id'] }),
  ...LIST,
};
