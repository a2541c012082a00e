// (d) What they would pick instead: Express, express.json, the check, and one INSERT … ON CONFLICT DO NOTHING per request
// (or per batch, of arrays) over a pool of 20, synchronous commit, primary key (project_id, event_id) and an index like our
// sorting key. Arguments: the address of the database, and how many records to put into it first.
import { createServer } from 'node:http';
import express from 'express';
import pg from 'pg';
import { decisionEventSchema } from '../../../server/ingest/decision-event.ts';
import { createParser } from '../../../server/validate.ts';
import { serve } from './engine.ts';

const parse = createParser<Record<string, unknown>>(decisionEventSchema);
const pool = new pg.Pool({ connectionString: process.argv[2] ?? '', max: 20 });
await pool.query(`
  CREATE TABLE decisions (
    project_id text NOT NULL, event_id uuid NOT NULL, occurred_at timestamptz NOT NULL, received_at timestamptz NOT NULL,
    agent_name text NOT NULL, agent_version_id text NOT NULL, tool_name text NOT NULL, outcome smallint NOT NULL,
    role text NOT NULL, error_type text NOT NULL, reason text NOT NULL, violations text[] NOT NULL, hint text NOT NULL,
    arguments text NOT NULL, user_id text NOT NULL, session_id text NOT NULL)`);
await pool.query(
  `INSERT INTO decisions SELECT 'fleet', gen_random_uuid(), now() - n * interval '1 millisecond', now(), 'agent-' || n % 50, '',
    'tool-' || n % 20, 1 + n % 3, 'editor', '', 'Refunds above 1000 need approval.', ARRAY['refund-limit'], '{"max":1000}',
    '{"order":"A-10293","amount":1250,"currency":"EUR","note":"' || n || '"}', 'user-' || n % 20000, 'session-' || n % 100000
   FROM generate_series(1, $1::bigint) AS n`,
  [process.argv[3] ?? 0],
);
await pool.query(`
  ALTER TABLE decisions ADD PRIMARY KEY (project_id, event_id);
  CREATE INDEX decisions_by_agent ON decisions (project_id, agent_name, outcome, occurred_at, event_id)`);
await pool.query('VACUUM ANALYZE decisions');
await pool.query('CHECKPOINT');
const OUTCOMES: Record<string, number> = { allow: 1, deny: 2, needs_approval: 3 };

/** The values of the columns that come from an event. */
function valuesOf(e: Record<string, unknown>): unknown[] {
  const json = (name: string) => JSON.stringify(e[name]);
  const times = [
    e['event_id'],
    e['occurred_at'],
    e['agent_name'],
    '',
    e['tool_name'],
    OUTCOMES[String(e['outcome'])],
  ];
  const texts = [e['role'], e['error_type'], e['reason'], e['violations'], json('hint'), json('arguments')];
  return [...times, ...texts, e['user_id'], e['session_id']];
}

const insert = {
  name: 'insert-decision',
  text: `INSERT INTO decisions VALUES ('bench', $1, $2, now(), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         ON CONFLICT (project_id, event_id) DO NOTHING`,
};
const insertMany = {
  name: 'insert-decisions',
  text: `INSERT INTO decisions
         SELECT 'bench', id, at, now(), agent, version, tool, outcome, role, error, reason, violations::text[], hint, args, user_id, session
         FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::text[], $8::text[],
           $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])
           AS e(id, at, agent, version, tool, outcome, role, error, reason, violations, hint, args, user_id, session)
         ON CONFLICT (project_id, event_id) DO NOTHING`,
};
const VIOLATIONS = 9;

const app = express();
app.post('/v1/audit/decisions', express.json(), async (req, res) => {
  const e = parse(req.body);
  await pool.query({ ...insert, values: valuesOf(e) });
  res.status(202).json({ event_id: e['event_id'] });
});
app.post('/v1/audit/decisions/batch', express.text({ type: '*/*', limit: '8mb' }), async (req, res) => {
  const lines = (req.body as string).split('\n').filter((line) => line !== '');
  const rows = lines.map((line) => valuesOf(parse(JSON.parse(line))));
  const columns = Array.from({ length: 14 }, (_, at) => rows.map((row) => row[at]));
  columns[VIOLATIONS] = columns[VIOLATIONS]?.map((list) => arrayLiteral(list as string[])) ?? [];
  const { rowCount } = await pool.query({ ...insertMany, values: columns });
  res.status(202).json({ accepted: rowCount, duplicates: rows.length - (rowCount ?? 0), rejected: [] });
});

/** An array of texts as PostgreSQL writes it: unnest would take a list of lists for one long list. */
function arrayLiteral(list: string[]): string {
  return `{${list.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

app.get('/count', async (_req, res) => {
  const { rows } = await pool.query<{ total: string }>(
    "SELECT count(*) AS total FROM decisions WHERE project_id = 'bench'",
  );
  res.json({ count: Number(rows[0]?.total) });
});
serve(createServer(app));
