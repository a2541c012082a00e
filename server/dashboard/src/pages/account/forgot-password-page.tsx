import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useForm } from '../../ui/use-form.ts';
import { CenteredPage } from './centered-page.tsx';
import { useMailedLink } from './mailed-link.ts';

export function ForgotPasswordPage() {
  const [sentTo, setSentTo] = useState<string | undefined>(undefined);
  const link = useMailedLink();
  const { onSubmit, isRunning, error } = useForm(async ({ email = '' }) => {
    await request(call('POST /v1/auth/forgot-password'), { body: { email } });
    setSentTo(email);
  });
  return (
    <CenteredPage title="Reset your password">
      {sentTo !== undefined && (
        <p role="status">
          If <b>{sentTo}</b> has an account,{' '}
          {link.isPrinted ? 'a link was created' : 'we have sent a link to it'}. It is valid for one hour.{' '}
          {link.place}
        </p>
      )}
      <form onSubmit={onSubmit}>
        <Field label="E-mail" name="email" type="email" autocomplete="username" required autofocus />
        <FormError error={error} />
        <button type="submit" class="primary wide" aria-busy={isRunning}>
          {sentTo === undefined ? 'Send link' : 'Send another link'}
        </button>
      </form>
      <p class="centered-links">
        <a href="/sign-in">Back to sign in</a>
      </p>
    </CenteredPage>
  );
}
