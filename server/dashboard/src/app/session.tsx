import { createContext, type ComponentChildren } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { ApiError } from '../api/api-error.ts';
import { RETRY_MS, useTimer } from '../api/use-answer.ts';
import { request } from '../api/request.ts';
import type { Me } from '../api/types.ts';
import { claimDrafts } from '../pages/agents/drafts.ts';

type SessionState =
  { status: 'loading'; me?: undefined } | { status: 'out'; me?: undefined } | { status: 'in'; me: Me };
export type Session = SessionState & {
  /** Fetches the signed-in account. */
  reload: () => Promise<void>;
  signOut: () => Promise<void>;
};

const SessionContext = createContext<Session | undefined>(undefined);

export function SessionProvider({ children }: { children: ComponentChildren }) {
  const [state, setState] = useState<SessionState>({ status: 'loading' });
  const [isUnanswered, setIsUnanswered] = useState(false);
  const reload = useCallback(async () => {
    try {
      const { account } = await request(call('GET /v1/auth/session'));
      if (account !== null) claimDrafts(account.id);
      setState(account === null ? { status: 'out' } : { status: 'in', me: account });
      setIsUnanswered(false);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // A missing answer does not mean signed out.
      setIsUnanswered(true);
    }
  }, []);
  useTimer(isUnanswered ? RETRY_MS : undefined, () => void reload());
  const signOut = useCallback(async () => {
    await request(call('POST /v1/auth/logout'));
    // A page load, so that no answers or drafts of this person stay in memory.
    location.replace('/sign-in');
  }, []);
  useEffect(() => void reload(), [reload]);
  const session = useMemo(() => ({ ...state, reload, signOut }), [state, reload, signOut]);
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('useSession needs a SessionProvider');
  return session;
}

/** Whether the person may change this project. */
export function useIsMember(projectId: string): boolean {
  return useSession().me?.projects.some(({ id }) => id === projectId) ?? false;
}
