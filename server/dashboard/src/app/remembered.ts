/** What this browser remembers between visits. Storage may be closed to us; then nothing is remembered. */
type Remembered = 'project' | 'theme';

export function recall(name: Remembered): string | undefined {
  try {
    return localStorage.getItem(`gatehouse.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(name: Remembered, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`gatehouse.${name}`);
    else localStorage.setItem(`gatehouse.${name}`, value);
  } catch {
    // Private windows of some browsers refuse; the page works without.
  }
}
