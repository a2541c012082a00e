// (c) The obvious first version: Express, express.json, the check, and one awaited insert per request.
import { createServer } from 'node:http';
import express from 'express';
import { decisionEventSchema } from '../../../server/ingest/decision-event.ts';
import { createParser } from '../../../server/validate.ts';
import { countRows, DECISION_COLUMNS, openDecisions, rowFrom, serve } from './engine.ts';

const parse = createParser<Record<string, unknown>>(decisionEventSchema);
const connection = await openDecisions(process.argv[2] ?? '');
const app = express();
app.post('/v1/audit/decisions', express.json(), async (req, res) => {
  const event = parse(req.body);
  await connection.insert({
    table: 'decisions',
    columns: DECISION_COLUMNS,
    lines: [rowFrom(event)],
    token: '',
  });
  res.status(202).json({ event_id: event['event_id'] });
});
app.get('/count', async (_req, res) => {
  res.json({ count: await countRows(connection) });
});
serve(createServer(app));
