import type { Period } from './period.ts';

/** The pages of the dashboard. The service serves its HTML for these paths and for no other. */
export type Page =
  | { name: 'home' }
  | { name: 'sign-in' }
  | { name: 'register' }
  | { name: 'forgot-password' }
  | { name: 'verify-email'; token: string }
  | { name: 'reset-password'; token: string }
  | { name: 'account' }
  | { name: ProjectPageName; projectId: string }
  | { name: 'agent'; projectId: string; agentName: string }
  | { name: 'model-calls'; projectId: string }
  | { name: 'decision'; projectId: string; eventId: string };

export const PROJECT_PAGES = [
  'overview',
  'decisions',
  'agents',
  'usage',
  'completeness',
  'alerts',
  'proof',
  'keys',
  'members',
  'activity',
] as const;
type ProjectPageName = (typeof PROJECT_PAGES)[number];

const PLAIN_PAGES = ['sign-in', 'register', 'forgot-password', 'account'] as const;

/** The page at a path, or undefined. */
export function pageFrom(path: string): Page | undefined {
  const segments = segmentsOf(path);
  if (segments === undefined || segments.length > 4) return undefined;
  const [first, second, third = 'overview', fourth] = segments;
  if (first === undefined) return { name: 'home' };
  if (second === undefined) {
    const name = PLAIN_PAGES.find((known) => known === first);
    return name && { name };
  }
  if (segments.length === 2 && (first === 'verify-email' || first === 'reset-password')) {
    return { name: first, token: second };
  }
  if (first !== 'projects') return undefined;
  if (fourth === undefined) {
    const name = PROJECT_PAGES.find((known) => known === third);
    return name && { name, projectId: second };
  }
  if (third === 'agents') return { name: 'agent', projectId: second, agentName: fourth };
  if (third === 'usage' && fourth === 'calls') return { name: 'model-calls', projectId: second };
  return third === 'decisions' ? { name: 'decision', projectId: second, eventId: fourth } : undefined;
}

/** Undefined for a path with an empty segment or an invalid %-sequence. */
function segmentsOf(path: string): string[] | undefined {
  const trimmed = path.replace(/^\//, '').replace(/\/$/, '');
  if (trimmed === '') return [];
  try {
    const segments = trimmed.split('/').map(decodeURIComponent);
    return segments.includes('') ? undefined : segments;
  } catch {
    return undefined;
  }
}

export function projectPath(projectId: string, page: ProjectPageName): string {
  return `/projects/${encodeURIComponent(projectId)}/${page}`;
}

/** The page of an agent. An agent named `.` or `..` cannot register or be part of a path, so only its decisions are shown. */
export function agentPath(projectId: string, agentName: string): string {
  if (agentName === '.' || agentName === '..')
    return placeWith(projectPath(projectId, 'decisions'), { window: '90d', agent: agentName });
  return `${projectPath(projectId, 'agents')}/${encodeURIComponent(agentName)}`;
}

/** The address of one record. It is valid with any period and filters. */
export function decisionPath(projectId: string, eventId: string): string {
  return `${projectPath(projectId, 'decisions')}/${encodeURIComponent(eventId)}`;
}

/** The address of the single model calls. */
export function callsPath(projectId: string): string {
  return `${projectPath(projectId, 'usage')}/calls`;
}

/** The timeline of a session. It is shown in full, so other filters are removed. */
export function sessionPath(projectId: string, period: Period, sessionId: string): string {
  const query = { ...period, session_id: sessionId, view: 'timeline' };
  return placeWith(projectPath(projectId, 'decisions'), query);
}

/** The page of the project's navigation that a page belongs to. */
export function sectionOf(page: Page | undefined): ProjectPageName | undefined {
  if (page?.name === 'agent') return 'agents';
  if (page?.name === 'decision') return 'decisions';
  if (page?.name === 'model-calls') return 'usage';
  return PROJECT_PAGES.find((name) => name === page?.name);
}

export type QueryValues = Record<string, string | number | readonly string[] | undefined>;

/** A path with a query. A list repeats its parameter; undefined leaves it out. */
export function placeWith(path: string, query: QueryValues): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}
