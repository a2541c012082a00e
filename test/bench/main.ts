import { parseArgs } from 'node:util';
import { benchIngest } from './ingest.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
});

await benchIngest({
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  ...(values.only === undefined ? {} : { only: values.only }),
});
