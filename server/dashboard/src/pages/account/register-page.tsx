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

/** Registers, signs in, and asks for the mail that verifies the address: registering itself sends none. */
export function RegisterPage() {
  const session = useSession();
  const say = useSay();
  const { run, isRunning, error } = useAction(
    async ({ email = '', password = '' }: Record<string, string>) => {
      await request(call('POST /v1/auth/register', {}), { body: { email, password } });
      await request(call('POST /v1/auth/login', {}), { body: { email, password } });
      // The account is there either way; the account page can ask for the mail again.
      await request(call('POST /v1/auth/request-verify-token', {}), { body: { email } }).catch(
        () => undefined,
      );
      forgetAnswers();
      await session.reload();
      say('Welcome. A mail with a link to verify your address is on its way.');
      navigate('/', { replace: true });
    },
  );
  const taken =
    error?.code === 'conflict'
      ? 'There is an account with this e-mail. Sign in, or reset its password.'
      : undefined;
  return (
    <Door title="Create an account">
      <form onSubmit={(event) => submitted(event, (values) => void run(values))}>
        <Field label="E-mail" name="email" type="email" autocomplete="username" required autofocus />
        <Field
          label="Password"
          name="password"
          type="password"
          autocomplete="new-password"
          minLength={PASSWORD_CHARS_MIN}
          help={passwordHelp}
          required
        />
        <FormError error={error} title={taken} />
        <button type="submit" class="primary wide" disabled={isRunning}>
          {isRunning ? 'Creating…' : 'Create the account'}
        </button>
      </form>
      <p class="door-links">
        <a href="/sign-in">I have an account</a>
      </p>
    </Door>
  );
}
