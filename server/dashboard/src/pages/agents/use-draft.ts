import { useCallback, useEffect, useState } from 'preact/hooks';

/** What was typed and not saved, by agent and part: it survives a look at another page. */
const drafts = new Map<string, string>();

type Draft = {
  text: string;
  /** Counts how often the text was replaced by something else than typing. */
  revision: number;
  isChanged: boolean;
  set: (text: string) => void;
  discard: () => void;
  /** This text was saved; what was typed since then stays a draft. */
  settle: (text: string) => void;
};

/** The saved text, or what the person has made of it. */
export function useDraft(key: string, saved: string): Draft {
  const [{ text, revision }, setState] = useState({ text: drafts.get(key) ?? saved, revision: 0 });
  const replace = (next: string) => setState((state) => ({ text: next, revision: state.revision + 1 }));
  // What was just saved is no draft any more, although the version with it is still on its way here.
  const isChanged = drafts.has(key) && text !== saved;
  useEffect(() => {
    // A newer version was loaded, and nothing typed stands against it.
    if (!drafts.has(key)) replace(saved);
  }, [key, saved]);
  const set = useCallback(
    (next: string) => {
      // The saved text is no draft, whoever put it there: it would stand against the next version.
      if (next === saved) drafts.delete(key);
      else drafts.set(key, next);
      setState((state) => ({ ...state, text: next }));
    },
    [key, saved],
  );
  const discard = useCallback(() => {
    drafts.delete(key);
    replace(saved);
  }, [key, saved]);
  const settle = useCallback(
    (stored: string) => {
      if (drafts.get(key) === stored) drafts.delete(key);
    },
    [key],
  );
  useEffect(() => {
    if (!isChanged) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isChanged]);
  return { text, revision, isChanged, set, discard, settle };
}

/** What was typed, if anything was. */
export function draftOf(key: string): string | undefined {
  return drafts.get(key);
}

export function putDraft(key: string, text: string): void {
  drafts.set(key, text);
}

export function draftKey(projectId: string, agentName: string, part: string): string {
  return JSON.stringify([projectId, agentName, part]);
}
