import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { forgetAnswers } from '../../api/use-answer.ts';
import { navigate } from '../../app/location.ts';
import { useSession } from '../../app/session.tsx';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useAction } from '../../ui/use-action.ts';
import { Door, submitted } from './door.tsx';
import { PASSWORD_CHARS_MIN, passwordHelp } from './password-rule.ts';

/** The page behind a mailed link. The token goes to the service only when the new password is sent. */
export function ResetPasswordPage({ token }: { token: string }) {
  const say = useSay();
  const session = useSession();
  const { run, isRunning, error } = useAction(async ({ password = '' }: Record<string, string>) => {
    await request(call('POST /v1/auth/reset-password', {}), { body: { token, password } });
    forgetAnswers();
    // Every session of the account has ended, this one too if there was one.
    await session.reload();
    say('The password is changed. Sign in with it.');
    navigate('/sign-in', { replace: true });
  });
  return (
    <Door title="Choose a new password">
      <form onSubmit={(event) => submitted(event, (values) => void run(values))}>
        <Field
          label="New password"
          name="password"
          type="password"
          autocomplete="new-password"
          minLength={PASSWORD_CHARS_MIN}
          help={passwordHelp}
          required
          autofocus
        />
        <FormError error={error} />
        <button type="submit" class="primary wide" disabled={isRunning}>
          {isRunning ? 'Saving…' : 'Set the password'}
        </button>
      </form>
      <p class="door-links">
        {error?.code === 'token_invalid' && <a href="/forgot-password">Ask for a new link</a>}
        <a href="/sign-in">Back to sign in</a>
      </p>
    </Door>
  );
}
