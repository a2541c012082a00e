/** A view of the list of decisions: its name, and the query of its address. */
export type View = { name: string; query: string };

/** The views that a browser kept. What is not one is left out: anything may have been written there. */
export function savedViews(text: string | undefined): View[] {
  try {
    const kept: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(kept) ? kept.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is View {
  const { name, query } = (value ?? {}) as Partial<View>;
  return typeof name === 'string' && typeof query === 'string' && /^(?:\?.*)?$/.test(query);
}
