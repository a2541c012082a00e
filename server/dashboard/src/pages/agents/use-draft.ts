import { useCallback, useEffect, useState } from 'preact/hooks';
import { drafts } from './drafts.ts';

export type Draft = {
  text: string;
  /** Incremented when the text is replaced other than by typing. */
  revision: number;
  isChanged: boolean;
  set: (text: string) => void;
  discard: () => void;
  /** Marks this text as saved. Text typed since then stays a draft. */
  settle: (text: string) => void;
};

/** The saved text, or the person's draft of it. */
export function useDraft(key: string, saved: string): Draft {
  const [{ text, revision }, setState] = useState({ text: drafts.get(key) ?? saved, revision: 0 });
  const replace = (next: string) => setState((state) => ({ text: next, revision: state.revision + 1 }));
  // Just saved text is not a draft, even before the new version has been loaded.
  const isChanged = drafts.has(key) && text !== saved;
  useEffect(() => {
    // A newer version was loaded and there is no draft.
    if (!drafts.has(key)) replace(saved);
  }, [key, saved]);
  const set = useCallback(
    (next: string) => {
      // Text equal to the saved text is not a draft: it would hide the next version. An editor uses only LF as line end.
      if (next === saved.replaceAll(/\r\n?/g, '\n')) drafts.delete(key);
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
  return { text, revision, isChanged, set, discard, settle };
}
