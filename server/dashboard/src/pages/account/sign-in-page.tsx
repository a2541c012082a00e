import { useEffect } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { forgetAnswers } from '../../api/use-answer.ts';
import { request } from '../../api/request.ts';
import { navigate, usePlace } from '../../app/location.ts';
import { useSession } from '../../app/session.tsx';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useAction } from '../../ui/use-action.ts';
import { Door, submitted } from './door.tsx';
import { nextPlace } from './next-place.ts';
import { OpenProject } from './open-project.tsx';

export function SignInPage() {
  const session = useSession();
  const { query } = usePlace();
  const next = nextPlace(query.get('next'));
  const { run, isRunning, error } = useAction(
    async ({ email = '', password = '' }: Record<string, string>) => {
      await request(call('POST /v1/auth/login', {}), { body: { email, password } });
      forgetAnswers();
      await session.reload();
    },
  );
  const isIn = session.status === 'in';
  useEffect(() => {
    if (isIn) navigate(next, { replace: true });
  }, [isIn]);
  const wrong = error?.status === 401 ? 'Wrong e-mail or password.' : undefined;
  return (
    <Door title="Sign in">
      <form onSubmit={(event) => submitted(event, (values) => void run(values))}>
        <Field label="E-mail" name="email" type="email" autocomplete="username" required autofocus />
        <Field label="Password" name="password" type="password" autocomplete="current-password" required />
        <FormError error={error} title={wrong} />
        <button type="submit" class="primary wide" disabled={isRunning}>
          {isRunning ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      <p class="door-links">
        <a href="/forgot-password">Forgot password?</a>
        <a href="/register">Create account</a>
      </p>
      <OpenProject />
    </Door>
  );
}
