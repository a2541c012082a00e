import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { forgetAnswers } from '../../api/use-answer.ts';
import { navigate } from '../../app/location.ts';
import { useSession } from '../../app/session.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useForm } from '../../ui/use-form.ts';
import { CenteredPage } from './centered-page.tsx';
import { NewPasswordField } from './new-password-field.tsx';

/** The page of a mailed link. The token is sent to the service only with the new password. */
export function ResetPasswordPage({ token }: { token: string }) {
  const say = useSay();
  const session = useSession();
  const { onSubmit, isRunning, error } = useForm(async ({ password = '' }) => {
    await request(call('POST /v1/auth/reset-password'), { body: { token, password } });
    forgetAnswers();
    // Every session of the account has ended, including this one.
    await session.reload();
    say('Password changed. Sign in with the new password.');
    navigate('/sign-in', { replace: true });
  });
  return (
    <CenteredPage title="Choose a new password">
      <form onSubmit={onSubmit}>
        <NewPasswordField label="New password" autofocus />
        <FormError error={error} />
        <button type="submit" class="primary wide" aria-busy={isRunning}>
          {isRunning ? 'Saving…' : 'Set password'}
        </button>
      </form>
      <p class="centered-links">
        {error?.code === 'token_invalid' && <a href="/forgot-password">Request a new link</a>}
        <a href="/sign-in">Back to sign in</a>
      </p>
    </CenteredPage>
  );
}
