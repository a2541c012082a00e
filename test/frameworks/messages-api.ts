import { startMockServer, type MockServer, type Reply, type SeenRequest } from '../support/mock-server.ts';
import type { ModelCall, Steps } from '../support/adapters/contract.ts';

type Block = {
  type: string;
  id?: string;
  name?: string;
  tool_use_id?: string;
  content?: unknown;
  text?: string;
};
type Request = {
  stream?: boolean;
  tools?: { name: string }[];
  messages: { role: string; content: string | Block[] }[];
};

export type MessagesApi = {
  url: string;
  /** How often the model was called. */
  asked(): number;
  /** The text of the result of each call, as the model got it. */
  results(): string[];
  /** Requests to other addresses, as a proxy receives them. */
  elsewhere(): string[];
  close: MockServer['close'];
};

type Options = {
  /** The name of a tool as the model knows it. */
  nameOf: (tool: string) => string;
  onModel?: (() => void) | undefined;
};

/** The Messages API of Anthropic on a loopback address, streamed, with a model that makes the calls of these steps and then says "done". */
export async function startMessagesApi(steps: Steps, { nameOf, onModel }: Options): Promise<MessagesApi> {
  const mock = await startMockServer();
  let last: Request = { messages: [] };
  let asked = 0;
  const reply = ({ text }: SeenRequest): Reply => {
    const request = JSON.parse(text) as Request;
    // Claude Code also asks its model for titles and the like, without tools.
    if (!request.tools?.length) return streamed([{ type: 'text', text: 'done' }]);
    onModel?.();
    last = request;
    asked += 1;
    const step = blocksOf(request).filter(({ type }) => type === 'tool_use').length;
    const calls = callsFrom(steps, step);
    return streamed(
      calls.length === 0 ? [{ type: 'text', text: 'done' }] : calls.map((call) => useOf(call, nameOf)),
    );
  };
  mock.on('POST /v1/messages?beta=true', reply);
  return {
    url: mock.url,
    asked: () => asked,
    results: () => {
      const results = blocksOf(last).filter(({ type }) => type === 'tool_result');
      return steps
        .flat()
        .map((_, index) => textOf(results.find((one) => one.tool_use_id === `toolu_${index}`)?.content));
    },
    elsewhere: () => mock.requests.map(({ path }) => path).filter((path) => !path.startsWith('/')),
    close: () => mock.close(),
  };
}

type NumberedCall = ModelCall & { index: number };

/** The calls of the step that follows this many calls. */
function callsFrom(steps: Steps, made: number): NumberedCall[] {
  let index = 0;
  for (const calls of steps) {
    const numbered = calls.map((call) => ({ ...call, index: index++ }));
    if (numbered[0]?.index === made) return numbered;
  }
  return [];
}

function blocksOf({ messages }: Request): Block[] {
  return messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
}

function useOf(
  { name, args, index }: NumberedCall,
  nameOf: (tool: string) => string,
): Block & { input: unknown } {
  return { type: 'tool_use', id: `toolu_${index}`, name: nameOf(name), input: args };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((block: Block) => block.text ?? '').join('\n') : '';
}

/** A message as server-sent events (Anthropic, "Streaming messages"). */
function streamed(blocks: (Block & { input?: unknown })[]): Reply {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'mock',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const isCall = blocks.some(({ type }) => type === 'tool_use');
  const events = [
    { type: 'message_start', message },
    ...blocks.flatMap(({ input, text, ...block }, index) => [
      {
        type: 'content_block_start',
        index,
        content_block: { ...block, ...(input === undefined ? { text: '' } : { input: {} }) },
      },
      {
        type: 'content_block_delta',
        index,
        delta:
          input === undefined
            ? { type: 'text_delta', text }
            : { type: 'input_json_delta', partial_json: JSON.stringify(input) },
      },
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage,
    },
    { type: 'message_stop' },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return { headers: { 'Content-Type': 'text/event-stream' }, text };
}
