import { createContext, type ComponentChildren } from 'preact';
import { useCallback, useContext, useState } from 'preact/hooks';

type Say = (text: string) => void;
const ToastContext = createContext<Say>(() => undefined);
const SHOWN_MS = 5000;

/** A short message about what just happened. Screen readers read it aloud. */
export function ToastProvider({ children }: { children: ComponentChildren }) {
  const [text, setText] = useState('');
  const say = useCallback((said: string) => {
    setText(said);
    setTimeout(() => setText((current) => (current === said ? '' : current)), SHOWN_MS);
  }, []);
  return (
    <ToastContext.Provider value={say}>
      {children}
      <div class="toast-place" role="status" aria-live="polite">
        {text !== '' && <p class="toast">{text}</p>}
      </div>
    </ToastContext.Provider>
  );
}

export function useSay(): Say {
  return useContext(ToastContext);
}
