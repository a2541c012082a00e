import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { useSession } from '../../app/session.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Loading } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { Door } from './door.tsx';
import { RequestVerification } from './request-verification.tsx';

/** The page behind a mailed link: uses its token at once, and once. */
export function VerifyEmailPage({ token }: { token: string }) {
  const session = useSession();
  const [email, setEmail] = useState<string | undefined>(undefined);
  const isSent = useRef(false);
  const { run, error } = useAction(async () => {
    const verified = await request(call('POST /v1/auth/verify', {}), { body: { token } });
    setEmail(verified.email);
    await session.reload();
  });
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    void run();
  }, []);
  return (
    <Door title={email === undefined ? 'Verify your address' : 'Your address is verified'}>
      {email === undefined && error === undefined && <Loading lines={2} />}
      {email !== undefined && (
        <>
          <p role="status">
            <b>{email}</b> is yours now as far as this service is concerned.
          </p>
          <a class="button primary wide" href="/">
            Go to the dashboard
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
    </Door>
  );
}
