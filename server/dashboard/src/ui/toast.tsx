import { createContext, type ComponentChildren } from 'preact';
import { useCallback, useContext, useEffect, useState } from 'preact/hooks';

type Say = (text: string) => void;
const ToastContext = createContext<Say>(() => undefined);
const SHOWN_MS = 5000;

/** A short message about what just happened. Screen readers read it aloud. */
export function ToastProvider({ children }: { children: ComponentChildren }) {
  const [said, setSaid] = useState<{ text: string } | undefined>(undefined);
  const say = useCallback((text: string) => setSaid({ text }), []);
  useEffect(() => {
    const timer = setTimeout(() => setSaid(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <ToastContext.Provider value={say}>
      {children}
      <div class="toast-place" role="status" aria-live="polite">
        {said !== undefined && <p class="toast">{said.text}</p>}
      </div>
    </ToastContext.Provider>
  );
}

export function useSay(): Say {
  return useContext(ToastContext);
}
