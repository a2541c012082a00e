import { RequestError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import { endpoint } from './endpoint.ts';
import { answer, nullable, STRING } from './schemas.ts';

export type HealthDeps = {
  metrics: Metrics;
  isStoreUp: () => Promise<boolean>;
  /** Whether the filter of each stream is complete; undefined if there are none. */
  identityFilters: () => Record<string, boolean> | undefined;
};
type FilterState = 'complete' | 'incomplete';

const STATUS = answer({ status: STRING }, 'Status');
const READINESS = answer(
  {
    status: STRING,
    identity_filter: nullable<FilterState>('string', {
      enum: ['complete', 'incomplete', null],
      description:
        'Until it is complete, every event is looked up in the store, which is slower; null where other processes write to the store',
    }),
  },
  'Readiness',
);
const PUBLIC = { method: 'GET', tag: 'Operations', allow: 'anyone' } as const;

export function healthEndpoints({ metrics, isStoreUp, identityFilters }: HealthDeps) {
  return [
    endpoint({
      ...PUBLIC,
      path: '/healthz',
      id: 'health',
      summary: 'Check that the process runs',
      description: 'Checks nothing outside the process.',
      answers: { 200: { description: 'The process runs', schema: STATUS } },
      handle: () => ({ status: 'ok' }),
    }),
    endpoint({
      ...PUBLIC,
      path: '/readyz',
      id: 'ready',
      summary: 'Check that the store answers',
      description: 'Sends a query to the store.',
      answers: { 200: { description: 'The store answers', schema: READINESS } },
      problems: ['store_unavailable'],
      handle: async () => {
        if (!(await isStoreUp())) throw new RequestError('store_unavailable', 'The store does not answer');
        return { status: 'ready', identity_filter: stateOf(identityFilters()) };
      },
    }),
    endpoint({
      ...PUBLIC,
      allow: 'scraper',
      path: '/metrics',
      id: 'metrics',
      summary: 'Get the metrics',
      description: 'In the text format of Prometheus.',
      answers: { 200: { description: 'The metrics', mediaTypes: ['text/plain'] } },
      handle: async ({ res }) => {
        res.type(metrics.registry.contentType).send(await metrics.text());
      },
    }),
  ];
}

function stateOf(filters: Record<string, boolean> | undefined): FilterState | null {
  if (filters === undefined) return null;
  return Object.values(filters).every(Boolean) ? 'complete' : 'incomplete';
}
