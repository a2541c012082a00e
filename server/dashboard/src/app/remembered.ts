/** Values kept in this browser between visits. Nothing is kept where storage is blocked. */
type Remembered =
  'project' | 'theme' | 'zone' | 'columns' | `${'views' | 'checkpoints' | 'log-key'}.${string}`;

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
    // Some browsers refuse in private windows. The page works without.
  }
}
