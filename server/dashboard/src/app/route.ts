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
  | { name: 'agent'; projectId: string; agentName: string };

export const PROJECT_PAGES = [
  'overview',
  'decisions',
  'agents',
  'usage',
  'proof',
  'keys',
  'members',
  'activity',
] as const;
export type ProjectPageName = (typeof PROJECT_PAGES)[number];

const PLAIN_PAGES = ['sign-in', 'register', 'forgot-password', 'account'] as const;

/** The page at a path, or undefined. */
export function pageFrom(path: string): Page | undefined {
  const segments = segmentsOf(path);
  if (segments === undefined) return undefined;
  const [first = '', second, third = 'overview', fourth] = segments;
  const plain = PLAIN_PAGES.find((name) => name === first);
  switch (segments.length) {
    case 0:
      return { name: 'home' };
    case 1:
      return plain === undefined ? undefined : { name: plain };
    case 2:
    case 3:
    case 4:
      break;
    default:
      return undefined;
  }
  if (second === undefined) return undefined;
  if (segments.length === 2 && (first === 'verify-email' || first === 'reset-password')) {
    return { name: first, token: second };
  }
  if (first !== 'projects') return undefined;
  if (fourth !== undefined) {
    return third === 'agents' ? { name: 'agent', projectId: second, agentName: fourth } : undefined;
  }
  const name = PROJECT_PAGES.find((known) => known === third);
  return name === undefined ? undefined : { name, projectId: second };
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

export function agentPath(projectId: string, agentName: string): string {
  return `${projectPath(projectId, 'agents')}/${encodeURIComponent(agentName)}`;
}
