import { useEffect } from 'preact/hooks';
import { SIGN_ON_NEXT_CHARS_MAX } from '../../../../limits.ts';
import { call } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { navigate, usePlace } from '../../app/location.ts';
import { useSession } from '../../app/session.tsx';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useForm } from '../../ui/use-form.ts';
import { CenteredPage } from './centered-page.tsx';
import { nextPlace } from './next-place.ts';
import { OpenProject } from './open-project.tsx';

/** The faults of a single sign-on, by the code in the redirect back from the service. */
const SINGLE_SIGN_ON_FAULTS: Record<string, string> = {
  provider_unavailable: 'The single sign-on provider is unavailable. Try again in a moment.',
  token_invalid: 'The sign-in was not completed. Start again.',
};

function singleSignOnHref(place: string): string {
  const { pathname, search } = new URL(place, location.origin);
  const next = pathname + search;
  const query =
    next === '/' || next.length > SIGN_ON_NEXT_CHARS_MAX ? '' : `?next=${encodeURIComponent(next)}`;
  return `/v1/auth/oidc/start${query}`;
}

export function SignInPage() {
  const session = useSession();
  const { query } = usePlace();
  const next = nextPlace(query.get('next'));
  const { data: options, error, reload } = useAnswer(call('GET /v1/auth/options'));
  const hasPassword = options?.password !== false;
  const isIn = session.status === 'in';
  useEffect(() => {
    if (isIn) navigate(next, { replace: true });
  }, [isIn]);
  const failed = query.get('sso');
  return (
    <CenteredPage title="Sign in">
      {failed !== null && (
        <p class="form-error" role="alert">
          {SINGLE_SIGN_ON_FAULTS[failed] ?? 'The single sign-on failed. Try again.'}
        </p>
      )}
      {error !== undefined && (
        <Notice error={error} retry={reload}>
          <b>The ways to sign in could not be loaded.</b>
        </Notice>
      )}
      {options?.sso === true && (
        <a class={`button wide ${hasPassword ? '' : 'primary'}`} href={singleSignOnHref(next)}>
          Sign in with single sign-on
        </a>
      )}
      {hasPassword && <PasswordForm />}
      {hasPassword && (
        <p class="centered-links">
          <a href="/forgot-password">Forgot password?</a>
          {options?.registration !== 'closed' && <a href="/register">Create account</a>}
        </p>
      )}
      <OpenProject />
    </CenteredPage>
  );
}

function PasswordForm() {
  const session = useSession();
  const { onSubmit, isRunning, error } = useForm(({ email = '', password = '' }) =>
    session.signIn({ email, password }),
  );
  const wrong = error?.status === 401 ? 'Wrong e-mail or password.' : undefined;
  return (
    <form onSubmit={onSubmit}>
      <Field label="E-mail" name="email" type="email" autocomplete="username" required autofocus />
      <Field label="Password" name="password" type="password" autocomplete="current-password" required />
      <FormError error={error} title={wrong} />
      <button type="submit" class="primary wide" aria-busy={isRunning}>
        {isRunning ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
}
