import { govern } from '../../../client/index.ts';
import type { AdapterHarness, AskOptions, Steps } from './contract.ts';

/** A custom agent whose loop passes errors to the model as text. */
export const governHarness: AdapterHarness = {
  isStreaming: false,
  bind: async (tools, options) => {
    const governed = await govern(
      {
        tools,
        run: async (context, { steps, onModel }: { steps: Steps; onModel: AskOptions['onModel'] }) => {
          const texts: string[] = [];
          for (const calls of steps) {
            onModel?.();
            const results = calls.map(async ({ name, args }) => context.tools[name]?.(args));
            const settled = await Promise.allSettled(results);
            texts.push(...settled.map((one) => String(one.status === 'fulfilled' ? one.value : one.reason)));
          }
          return texts;
        },
      },
      { ...options, bindPolicy: true },
    );
    return (steps, { caller, onModel }) => governed.run({ steps, onModel }, caller);
  },
};
