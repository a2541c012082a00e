import type { Static } from 'typebox';
import { oneOf } from '../http/schemas.ts';
import { WINDOW_NAMES } from '../records/window.ts';
import { text } from '../validate.ts';
import type { Registration } from './agent-saver.ts';
import type { AgentTool } from './agent-version.ts';
import { Type } from '../type.ts';

/** Limits the text of a policy or a prompt. The whole body is limited to 1 MiB. */
const TEXT_CHARS_MAX = 512 * 1024;
const TOOLS_MAX = 256;
const CALLS_MAX = 1000;
const REPLAY_ROWS = 1000;
const REPLAY_ROWS_MAX = 10_000;

const TEXT = Type.Optional(text(TEXT_CHARS_MAX));
const TOOL_NAME = Type.String({ minLength: 1, maxLength: 128, format: 'tool-name' });
const TOOL = Type.Object({
  name: TOOL_NAME,
  description: Type.Optional(text(4000)),
  annotations: Type.Optional(
    Type.Object(
      { readOnlyHint: Type.Optional(Type.Boolean()), destructiveHint: Type.Optional(Type.Boolean()) },
      { description: "MCP's tool annotations" },
    ),
  ),
});

export const REGISTRATION = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200, format: 'agent-name' }),
  tools: Type.Array(Type.Union([TOOL_NAME, TOOL]), { maxItems: TOOLS_MAX }),
  agent_yaml: TEXT,
  system_md: TEXT,
});

const NOTE = Type.String({
  minLength: 1,
  maxLength: 500,
  format: 'note',
  description: 'Why the version is saved',
});

/** Parsing the policy finds its errors, with line and column. */
const POLICY_TEXT = Type.String();
export const EDIT = Type.Object({
  policy_yaml: Type.Optional(POLICY_TEXT),
  agent_yaml: TEXT,
  system_md: TEXT,
  note: Type.Optional(NOTE),
});

export const CHECK = Type.Object({
  policy_yaml: POLICY_TEXT,
  calls: Type.Optional(
    Type.Array(
      Type.Object({
        tool: Type.String(),
        role: Type.Optional(Type.String()),
        arguments: Type.Optional(Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'] })),
      }),
      { maxItems: CALLS_MAX },
    ),
  ),
  replay: Type.Optional(
    Type.Object({
      window: oneOf(WINDOW_NAMES, { default: '24h' }),
      limit: Type.Integer({ minimum: 1, maximum: REPLAY_ROWS_MAX, default: REPLAY_ROWS }),
      cursor: Type.Optional(
        Type.String({ description: 'The next_cursor of an answer: older decisions are replayed' }),
      ),
    }),
  ),
});
export type Check = Static<typeof CHECK>;

/** The manifest as it was sent. Duplicate tools are kept; the default policy merges them. */
export function registrationFrom(body: Static<typeof REGISTRATION>): Registration {
  const { name, tools, agent_yaml, system_md } = body;
  const manifest = tools.map((tool) => (typeof tool === 'string' ? { name: tool } : toolFrom(tool)));
  return { name, tools: manifest, agent_yaml, system_md };
}

function toolFrom({ name, description, annotations }: Static<typeof TOOL>): AgentTool {
  return { name, ...(description === undefined ? {} : { description }), ...annotationsFrom(annotations) };
}

/** Only these two, always in this order: any other key creates no new version of a manifest. */
function annotationsFrom({ readOnlyHint, destructiveHint }: NonNullable<AgentTool['annotations']> = {}) {
  const annotations = {
    ...(readOnlyHint === undefined ? {} : { readOnlyHint }),
    ...(destructiveHint === undefined ? {} : { destructiveHint }),
  };
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}
