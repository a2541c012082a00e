// (d) What they would pick instead: Express, express.json, the check, and one INSERT … ON CONFLICT DO NOTHING per request
// over a pool of 20, synchronous commit, primary key (project_id, event_id) and an index like our sorting key.
import { createServer } from 'node:http';
import express from 'express';
import pg from 'pg';
import { decisionEventSchema } from '../../../server/ingest/decision-event.ts';
import { createParser } from '../../../server/validate.ts';
import { serve } from './engine.ts';

const parse = createParser<Record<string, unknown>>(decisionEventSchema);
const pool = new pg.Pool({ connectionString: process.argv[2] ?? '', max: 20 });
await pool.query(`
  CREATE TABLE IF NOT EXISTS decisions (
    project_id text NOT NULL, event_id uuid NOT NULL, occurred_at timestamptz NOT NULL, received_at timestamptz NOT NULL,
    agent_name text NOT NULL, agent_version_id text NOT NULL, tool_name text NOT NULL, outcome smallint NOT NULL,
    role text NOT NULL, error_type text NOT NULL, reason text NOT NULL, violations text[] NOT NULL, hint text NOT NULL,
    arguments text NOT NULL, user_id text NOT NULL, session_id text NOT NULL, PRIMARY KEY (project_id, event_id));
  CREATE INDEX IF NOT EXISTS decisions_by_agent ON decisions (project_id, agent_name, outcome, occurred_at, event_id)`);
const OUTCOMES: Record<string, number> = { allow: 1, deny: 2, needs_approval: 3 };

const insert = {
  name: 'insert-decision',
  text: `INSERT INTO decisions VALUES ($1, $2, $3, now(), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         ON CONFLICT (project_id, event_id) DO NOTHING`,
};
const app = express();
app.post('/v1/audit/decisions', express.json(), async (req, res) => {
  const e = parse(req.body);
  const values = [
    'bench',
    e['event_id'],
    e['occurred_at'],
    e['agent_name'],
    '',
    e['tool_name'],
    OUTCOMES[String(e['outcome'])],
  ];
  const texts = [
    e['role'],
    e['error_type'],
    e['reason'],
    e['violations'],
    JSON.stringify(e['hint']),
    JSON.stringify(e['arguments']),
  ];
  await pool.query({ ...insert, values: [...values, ...texts, e['user_id'], e['session_id']] });
  res.status(202).json({ event_id: e['event_id'] });
});
app.get('/count', async (_req, res) => {
  const { rows } = await pool.query<{ total: string }>('SELECT count(*) AS total FROM decisions');
  res.json({ count: Number(rows[0]?.total) });
});
serve(createServer(app));
