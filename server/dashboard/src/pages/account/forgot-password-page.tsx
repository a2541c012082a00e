import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useAction } from '../../ui/use-action.ts';
import { Door, submitted } from './door.tsx';

export function ForgotPasswordPage() {
  const [sentTo, setSentTo] = useState<string | undefined>(undefined);
  const { run, isRunning, error } = useAction(async ({ email = '' }: Record<string, string>) => {
    await request(call('POST /v1/auth/forgot-password', {}), { body: { email } });
    setSentTo(email);
  });
  return (
    <Door title="Reset your password">
      {sentTo !== undefined && (
        <p role="status">
          If <b>{sentTo}</b> has an account, we have sent a link to it. The link is valid for one hour. If
          nothing arrives, check your spam folder or try again.
        </p>
      )}
      <form onSubmit={(event) => submitted(event, (values) => void run(values))}>
        <Field label="E-mail" name="email" type="email" autocomplete="username" required autofocus />
        <FormError error={error} />
        <button type="submit" class="primary wide" disabled={isRunning}>
          {sentTo === undefined ? 'Send link' : 'Send again'}
        </button>
      </form>
      <p class="door-links">
        <a href="/sign-in">Back to sign in</a>
      </p>
    </Door>
  );
}
