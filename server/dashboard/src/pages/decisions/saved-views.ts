/** A view of the list of decisions: its name, the query of its address, and its columns; older ones have none. */
export type View = { name: string; query: string; columns?: string };

/** The views that a browser kept. Entries that are not views are dropped: the storage may hold anything. */
export function savedViews(text: string | undefined): View[] {
  try {
    const kept: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(kept) ? kept.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is View {
  const { name, query, columns = '' } = (value ?? {}) as Partial<View>;
  const areTexts = [name, query, columns].every((text) => typeof text === 'string');
  return areTexts && /^(?:\?.*)?$/.test(query ?? '');
}
