import { pageFrom } from '../../app/route.ts';

/** Where to go after signing in: always a page of this dashboard, whatever the link says. */
export function nextPlace(given: string | null): string {
  if (given === null || !given.startsWith('/') || given.startsWith('//') || given.includes('\\')) return '/';
  const [path = '/'] = given.split(/[?#]/);
  return pageFrom(path) === undefined ? '/' : given;
}
