import { createParser, text } from '../validate.ts';
import type { Edit, Registration } from './agent-saver.ts';
import type { AgentTool } from './agent-version.ts';

/** What a policy and a prompt may hold: the request body itself is bounded by 1 MiB. */
const TEXT_CHARS_MAX = 512 * 1024;
const TOOLS_MAX = 256;

/** 1 to 200 characters of any kind but `/` and control characters. */
const agentName = { type: 'string', minLength: 1, maxLength: 200, format: 'agent-name' } as const;
const toolName = { type: 'string', minLength: 1, maxLength: 128, format: 'tool-name' } as const;

export const registrationSchema = {
  type: 'object',
  required: ['name', 'tools'],
  properties: {
    name: agentName,
    tools: {
      type: 'array',
      maxItems: TOOLS_MAX,
      items: {
        anyOf: [
          toolName,
          {
            type: 'object',
            required: ['name'],
            properties: {
              name: toolName,
              description: text(4000),
              annotations: {
                type: 'object',
                description: "MCP's tool annotations",
                properties: { readOnlyHint: { type: 'boolean' }, destructiveHint: { type: 'boolean' } },
              },
            },
          },
        ],
      },
    },
    agent_yaml: text(TEXT_CHARS_MAX),
    system_md: text(TEXT_CHARS_MAX),
  },
} as const;

export const editSchema = {
  type: 'object',
  properties: {
    // Whatever it holds is told by its own check, with line and column.
    policy_yaml: { type: 'string' },
    agent_yaml: text(TEXT_CHARS_MAX),
    system_md: text(TEXT_CHARS_MAX),
  },
} as const;

type RegistrationBody = Omit<Registration, 'tools'> & { tools: (string | AgentTool)[] };

const parseRegistrationBody = createParser<RegistrationBody>(registrationSchema);
const parseEditBody = createParser<Edit>(editSchema);

/** The manifest as it was given; a tool named twice stays twice, and the default policy makes one of it. */
export function parseRegistration(body: unknown): Registration {
  const { name, tools, agent_yaml, system_md } = parseRegistrationBody(body);
  return {
    name,
    tools: tools.map((tool) => (typeof tool === 'string' ? { name: tool } : toolFrom(tool))),
    agent_yaml,
    system_md,
  };
}

function toolFrom({ name, description, annotations }: AgentTool): AgentTool {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...annotationsFrom(annotations),
  };
}

/** The two that CONTRACT 7 names, always in this order: what else was sent is no news of a manifest. */
function annotationsFrom({ readOnlyHint, destructiveHint }: NonNullable<AgentTool['annotations']> = {}) {
  const annotations = {
    ...(readOnlyHint === undefined ? {} : { readOnlyHint }),
    ...(destructiveHint === undefined ? {} : { destructiveHint }),
  };
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

export function parseEdit(body: unknown): Edit {
  const { policy_yaml, agent_yaml, system_md } = parseEditBody(body);
  return { policy_yaml, agent_yaml, system_md };
}
