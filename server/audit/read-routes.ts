import { Router, type Request, type Response } from 'express';
import { Query, queryInvalid } from '../http/query.ts';
import { mount } from '../http/routes.ts';
import { OUTCOMES } from './decision-event.ts';
import { readDecisions, readSummary, type DecisionFilters, type RunRead } from './read-audit.ts';
import { readWindow } from './read-window.ts';

export type ReadDeps = { runRead: RunRead; now: () => number };

const LIMIT = { fallback: 50, min: 1, max: 500 };
const OFFSET = { fallback: 0, min: 0, max: 10_000 };
const FILTERS = ['agent', 'role', 'outcome', 'tool', 'user_id', 'session_id'] as const;

/** The read endpoints over the audit records (SPECIFICATION 4.3 to 4.5). */
export function readRoutes({ runRead, now }: ReadDeps): Router {
  const router = Router();
  mount(router, '/v1/projects/:id/audit/summary', {
    get: async (req, res) => {
      const query = new Query(req, ['window']);
      const window = readWindow(query.text('window'), now());
      res.json(await readSummary(runRead, projectIdOf(req), window, goneSignal(res)));
    },
  });
  mount(router, '/v1/projects/:id/audit/decisions', {
    get: async (req, res) => {
      const query = new Query(req, ['window', 'limit', 'offset', ...FILTERS]);
      const window = readWindow(query.text('window'), now());
      const limit = query.integer('limit', LIMIT);
      const offset = query.integer('offset', OFFSET);
      const page = { filters: filtersOf(query), limit, offset };
      const body = await readDecisions(
        runRead,
        { projectId: projectIdOf(req), window, page },
        goneSignal(res),
      );
      res.type('json').send(body);
    },
  });
  return router;
}

function projectIdOf(req: Request): string {
  return String(req.params['id']);
}

function filtersOf(query: Query): DecisionFilters {
  for (const name of FILTERS) {
    const text = query.text(name) ?? '';
    if (text.includes('\0')) throw queryInvalid({ path: name, message: 'must not hold a NUL character' });
  }
  const filter = (name: string) => query.text(name) ?? null;
  return {
    agent: filter('agent'),
    role: filter('role'),
    outcome: query.choice('outcome', OUTCOMES) ?? null,
    tool: filter('tool'),
    user_id: filter('user_id'),
    session_id: filter('session_id'),
  };
}

/** Aborts when the caller goes away before it was answered: its query must not run on. */
function goneSignal(res: Response): AbortSignal {
  const gone = new AbortController();
  res.on('close', () => {
    if (!res.writableFinished) gone.abort();
  });
  return gone.signal;
}
