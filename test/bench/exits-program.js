// A program that emits 50 events and ends: node exits-program.js <"true" for batches> <how it ends>
import process from 'node:process';
import { configure, shutdown } from '../../client/dist/index.js';

const EVENTS = 50;

const ENDS = {
  'the program ends': () => {},
  'process.exit()': () => process.exit(0),
  'an uncaught error': () => {
    throw new Error('of the program');
  },
  'await shutdown()': shutdown,
};

const [, , batch, end] = process.argv;
const gate = configure({ apiKey: 'k', batch: batch === 'true' });
for (let n = 0; n < EVENTS; n += 1) {
  // An agent waits for its tools: no more than 32 events are in flight, and ten when it ends.
  if (n % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  gate.emit({ agent_name: 'a', tool_name: 't', outcome: 'allow', arguments: { n } });
}
await ENDS[end]();
