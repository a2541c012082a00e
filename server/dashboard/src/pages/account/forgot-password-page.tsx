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
          If there is an account for <b>{sentTo}</b>, a mail with a link is on its way. The link works for one
          hour. Nothing there? Look into the spam folder, or ask again.
        </p>
      )}
      <form onSubmit={(event) => submitted(event, (values) => void run(values))}>
        <Field label="E-mail" name="email" type="email" autocomplete="username" required autofocus />
        <FormError error={error} />
        <button type="submit" class="primary wide" disabled={isRunning}>
          {sentTo === undefined ? 'Send the link' : 'Send it again'}
        </button>
      </form>
      <p class="door-links">
        <a href="/sign-in">Back to sign in</a>
      </p>
    </Door>
  );
}
