import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { useSession } from '../../app/session.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Loading } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { CenteredPage } from './centered-page.tsx';
import { RequestVerification } from './request-verification.tsx';

/** The page of a mailed link. It uses the token immediately, and only once. */
export function VerifyEmailPage({ token }: { token: string }) {
  const session = useSession();
  const [email, setEmail] = useState<string | undefined>(undefined);
  const isSent = useRef(false);
  const { run, error } = useAction(async () => {
    const verified = await request(call('POST /v1/auth/verify'), { body: { token } });
    setEmail(verified.email);
    await session.reload();
  });
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    void run();
  }, []);
  return (
    <CenteredPage title={email === undefined ? 'Verify your e-mail address' : 'E-mail address verified'}>
      {email === undefined && error === undefined && <Loading lines={2} />}
      {email !== undefined && (
        <>
          <p role="status">
            <b>{email}</b> is verified.
          </p>
          <a class="button primary wide" href="/">
            Open the dashboard
          </a>
        </>
      )}
      <FormError error={error} />
      {error !== undefined &&
        (error.code === 'token_invalid' ? (
          <RequestVerification />
        ) : (
          <button type="button" onClick={() => void run()}>
            Try again
          </button>
        ))}
    </CenteredPage>
  );
}
