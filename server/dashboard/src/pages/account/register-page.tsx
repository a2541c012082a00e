import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { navigate } from '../../app/location.ts';
import { useSession } from '../../app/session.tsx';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useSignal } from '../../ui/use-action.ts';
import { useForm } from '../../ui/use-form.ts';
import { CenteredPage } from './centered-page.tsx';
import { mailedLink } from './mailed-link.ts';
import { NewPasswordField } from './new-password-field.tsx';

/** Registers, requests the verification e-mail (registration does not send it), and signs in. */
export function RegisterPage() {
  const session = useSession();
  const say = useSay();
  const signal = useSignal();
  const { onSubmit, isRunning, error } = useForm(async ({ email = '', password = '' }) => {
    await request(call('POST /v1/auth/register'), { body: { email, password } });
    // If one of these fails, the account page can request the e-mail again.
    const [options] = await Promise.all([
      request(call('GET /v1/auth/options')).catch(() => undefined),
      request(call('POST /v1/auth/request-verify-token'), { body: { email } }).catch(() => undefined),
    ]);
    await session.signIn({ email, password });
    const link = mailedLink(options);
    say(
      link.isPrinted
        ? `Welcome. Verify your e-mail address. ${link.place}`
        : 'Welcome. We have sent you a link to verify your e-mail address.',
    );
    if (!signal.aborted) navigate('/', { replace: true });
  });
  const taken =
    error?.code === 'conflict'
      ? 'An account with this e-mail exists already. Sign in, or reset its password.'
      : undefined;
  return (
    <CenteredPage title="Create account">
      <form onSubmit={onSubmit}>
        <Field label="E-mail" name="email" type="email" autocomplete="username" required autofocus />
        <NewPasswordField label="Password" />
        <FormError error={error} title={taken} />
        <button type="submit" class="primary wide" aria-busy={isRunning}>
          {isRunning ? 'Creating…' : 'Create account'}
        </button>
      </form>
      <p class="centered-links">
        <a href="/sign-in">I already have an account</a>
      </p>
    </CenteredPage>
  );
}
