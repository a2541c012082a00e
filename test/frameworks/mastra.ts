import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { governAgent } from '../../client/adapters/mastra.ts';
import type { RunOptions } from '../../client/index.ts';
import { adapterContract, type AdapterHarness, type Steps } from '../support/adapters/contract.ts';
import { schemaOf } from '../support/adapters/schemas.ts';
import { callOf, modelMaking } from '../support/ai-sdk-model.ts';
import { runCommand } from '../support/processes.ts';
import { FRAMEWORK_DIRECTORY, imported } from './installed.ts';

/** The used part of Mastra, which is installed elsewhere. */
type Mastra = {
  Agent: new (config: object) => {
    generate(prompt: string, options: object): Promise<unknown>;
    stream(prompt: string, options: object): Promise<{ consumeStream(): Promise<void> }>;
  };
  createTool: (tool: object) => object;
  RequestContext: new () => { set(key: string, value: unknown): void };
};

const { Agent, createTool, RequestContext } = {
  ...(await imported<object>('@mastra/core/agent')),
  ...(await imported<object>('@mastra/core/tools')),
  ...(await imported<object>('@mastra/core/request-context')),
} as Mastra;

/** An agent of Mastra with the mock model of the AI SDK; the RequestContext of a run has its caller. */
const mastraHarness: AdapterHarness = {
  isStreaming: true,
  bind: async (tools, options) => {
    const own = Object.fromEntries(
      Object.entries(tools).map(([id, execute]) => [
        id,
        createTool({
          id,
          description: id,
          inputSchema: schemaOf(id),
          execute: async (args: unknown) => execute(args),
        }),
      ]),
    );
    const caller = (context: { get(key: string): unknown }) => (context.get('caller') ?? {}) as RunOptions;
    const { hooks, inputProcessors } = await governAgent({ ...options, caller });
    return async (steps, { caller: of, isStreamed = false, onModel }) => {
      const calls = steps.map((step, index) =>
        step.map(({ name, args }, call) => callOf(name, args, `${index}-${call}`)),
      );
      const model = modelMaking(calls, onModel);
      const requestContext = new RequestContext();
      requestContext.set('caller', of);
      const agent = new Agent({
        id: 'bot',
        name: 'bot',
        instructions: 'Go.',
        model,
        tools: own,
        hooks,
        inputProcessors,
      });
      const settings = { requestContext, maxSteps: 9 };
      if (isStreamed) await (await agent.stream('Go.', settings)).consumeStream();
      else await agent.generate('Go.', settings);
      return resultsFor([...model.doGenerateCalls, ...model.doStreamCalls].at(-1)?.prompt ?? [], steps);
    };
  },
};

type Prompt = { role: string; content: unknown }[];

function resultsFor(prompt: Prompt, steps: Steps): string[] {
  const results = prompt.flatMap(({ role, content }) =>
    role === 'tool' ? (content as { toolCallId: string; output: { value: unknown } }[]) : [],
  );
  return steps.flatMap((calls, step) =>
    calls.map((_, index) => {
      const value = results.find(({ toolCallId }) => toolCallId === `${step}-${index}`)?.output.value;
      return typeof value === 'string' ? value : JSON.stringify(value ?? '');
    }),
  );
}

adapterContract('Mastra', mastraHarness);

describe('client/examples/mastra.js', () => {
  it('prints what it should', async () => {
    // A copy finds Mastra where it is installed.
    for (const name of ['mastra.js', 'policy.yaml'])
      await copyFile(
        new URL(`../../client/examples/${name}`, import.meta.url),
        join(FRAMEWORK_DIRECTORY, name),
      );
    const { output } = await runCommand(process.execPath, ['mastra.js'], { cwd: FRAMEWORK_DIRECTORY });

    expect(output.split('\n')).to.include.members([
      '3 results for parcels',
      'PolicyDeniedError: write_file is denied: System paths are closed.',
      'Done.',
    ]);
  });
});
