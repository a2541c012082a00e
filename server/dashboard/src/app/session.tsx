import { createContext, type ComponentChildren } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { ApiError } from '../api/api-error.ts';
import { forgetAnswers, useRetry } from '../api/use-answer.ts';
import { onSignedOut, request } from '../api/request.ts';
import type { Me } from '../api/types.ts';
import { claimDrafts, drafts } from '../pages/agents/drafts.ts';

type SessionState =
  | { status: 'loading'; me?: undefined }
  /** `hasEnded`: somebody was signed in on this page. */
  | { status: 'out'; hasEnded: boolean; me?: undefined }
  | { status: 'in'; me: Me };
export type Session = SessionState & {
  /** Why the account could not be fetched. */
  error: ApiError | undefined;
  /** Fetches the signed-in account; resolves with null where nobody is signed in. */
  reload: () => Promise<Me | null | undefined>;
  signIn: (credentials: { email: string; password: string }) => Promise<void>;
  signOut: () => Promise<void>;
};

const SessionContext = createContext<Session | undefined>(undefined);

export function SessionProvider({ children }: { children: ComponentChildren }) {
  const [state, setState] = useState<SessionState>({ status: 'loading' });
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const order = useRef({ asked: 0, answered: 0 });
  const reload = useCallback(async () => {
    const own = (order.current.asked += 1);
    try {
      const { account } = await request(call('GET /v1/auth/session'));
      // An answer from before a sign-in must not undo it.
      if (own < order.current.answered) return account;
      order.current.answered = own;
      if (account !== null) claimDrafts(account.id);
      setState(account === null ? signedOut : { status: 'in', me: account });
      setError(undefined);
      return account;
    } catch (fault) {
      if (!(fault instanceof ApiError)) throw fault;
      // A missing answer does not mean signed out.
      if (own > order.current.answered) setError(fault);
      return undefined;
    }
  }, []);
  useRetry(error, () => void reload());
  const signIn = useCallback(async (body: { email: string; password: string }) => {
    await request(call('POST /v1/auth/login'), { body });
    forgetAnswers();
    if ((await reload()) !== null) return;
    const detail = 'The browser did not keep the session. Open this page over HTTPS, and allow its cookies.';
    throw new ApiError({ status: 0, code: 'session_lost', detail });
  }, []);
  const signOut = useCallback(async () => {
    await request(call('POST /v1/auth/logout'));
    // The page load would ask about unsaved changes.
    drafts.clear();
    // A page load, so that no answers of this person stay in memory.
    location.replace('/sign-in');
  }, []);
  useEffect(() => {
    onSignedOut(() => {
      forgetAnswers();
      setState((before) => (before.status === 'loading' ? before : signedOut(before)));
    });
    void reload();
  }, [reload]);
  const accountId = state.me?.id;
  useEffect(() => {
    if (accountId === undefined) return undefined;
    const leaveIfReplaced = async () => {
      const { account } = await request(call('GET /v1/auth/session')).catch(() => ({ account: undefined }));
      if (account === undefined || account?.id === accountId) return;
      // The session has ended, for example by a sign-out in another tab.
      if (account === null) {
        await reload();
        return;
      }
      // Another person has signed in in another tab. A page load, so that no answers of this person stay in memory.
      claimDrafts(account.id);
      location.reload();
    };
    const onFocus = () => void leaveIfReplaced();
    addEventListener('focus', onFocus);
    return () => removeEventListener('focus', onFocus);
  }, [accountId, reload]);
  const session = useMemo(
    () => ({ ...state, error, reload, signIn, signOut }),
    [state, error, reload, signIn, signOut],
  );
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>;
}

function signedOut(before: SessionState): SessionState {
  return before.status === 'out' ? before : { status: 'out', hasEnded: before.status === 'in' };
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
