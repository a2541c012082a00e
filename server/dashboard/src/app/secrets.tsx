import { createContext, type ComponentChildren } from 'preact';
import { type Dispatch, type StateUpdater, useContext, useState } from 'preact/hooks';
import { useSession } from './session.tsx';

/** The service shows its text only once. */
type Secret = { id: string; name: string; text: string };
type Kept = Record<string, Secret[]>;

const SecretsContext = createContext<[Kept, Dispatch<StateUpdater<Kept>>]>([{}, () => undefined]);

/** Keeps new secrets until the person has copied them, also if their page is left in the meantime. */
export function SecretsProvider({ children }: { children: ComponentChildren }) {
  return <SecretsContext.Provider value={useState<Kept>({})}>{children}</SecretsContext.Provider>;
}

/** The new secrets of a page of a project. Nobody sees those of another account. */
export function useSecrets(projectId: string, page: 'keys' | 'alerts') {
  const [kept, setKept] = useContext(SecretsContext);
  const place = JSON.stringify([useSession().me?.id, projectId, page]);
  const change = (next: (before: Secret[]) => Secret[]) =>
    setKept((before) => ({ ...before, [place]: next(before[place] ?? []) }));
  return {
    secrets: kept[place] ?? [],
    keep: (secret: Secret) => change((before) => [secret, ...before]),
    drop: (id: string) => change((before) => before.filter((secret) => secret.id !== id)),
  };
}
