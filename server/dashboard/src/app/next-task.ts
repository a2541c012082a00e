/** Resolves in the next task. Long work in pieces does not block a phone. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
