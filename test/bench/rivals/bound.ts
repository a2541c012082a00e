// (b) The bound: bare node:http, JSON.parse, the same AJV check and a plain group commit into the same engine; nothing else.
import { createServer } from 'node:http';
import { decisionEventSchema } from '../../../server/ingest/decision-event.ts';
import { createParser } from '../../../server/validate.ts';
import { countRows, DECISION_COLUMNS, openDecisions, rowFrom, serve } from './engine.ts';

const parse = createParser<Record<string, unknown>>(decisionEventSchema);
const connection = await openDecisions(process.argv[2] ?? '');
type Waiting = { line: string; done: () => void };
let queue: Waiting[] = [];
let isFlushing = false;
let flushes = 0;

async function flush(): Promise<void> {
  isFlushing = true;
  while (queue.length > 0) {
    const batch = queue;
    queue = [];
    flushes += 1;
    await connection.insert({
      table: 'decisions',
      columns: DECISION_COLUMNS,
      lines: batch.map(({ line }) => line),
      token: '',
    });
    for (const { done } of batch) done();
    // The callers that were just answered send again: a short wait gathers more of them.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  isFlushing = false;
}

const server = createServer((req, res) => {
  if (req.method === 'GET') {
    void countRows(connection).then((count) => res.end(JSON.stringify({ count, flushes })));
    return;
  }
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const event = parse(JSON.parse(Buffer.concat(chunks).toString()));
    const done = () => {
      res.statusCode = 202;
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify({ event_id: event['event_id'] }));
    };
    queue.push({ line: rowFrom(event), done });
    if (!isFlushing) void flush();
  });
});
serve(server);
