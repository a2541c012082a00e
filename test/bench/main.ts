import { parseArgs } from 'node:util';
import { benchClient } from './client.ts';
import { benchIngest } from './ingest.ts';
import { benchPolicy } from './policy.ts';
import { benchPulls } from './pulls.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const only = values.only === undefined ? {} : { only: values.only };

const PARTS: Record<string, () => Promise<void>> = {
  ingest: () => benchIngest({ seconds, rounds: Number(values.rounds), ...only }),
  pulls: () => benchPulls({ seconds }),
  policy: benchPolicy,
  client: benchClient,
};

const names = positionals.length > 0 ? positionals : Object.keys(PARTS);
for (const name of names) {
  const part = PARTS[name];
  if (part === undefined)
    throw new Error(`There is no bench "${name}"; there are ${Object.keys(PARTS).join(', ')}`);
  await part();
}
