import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { useSession } from '../../app/session.tsx';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useForm } from '../../ui/use-form.ts';
import { useMailedLink } from './mailed-link.ts';

/** Requests a new verification link. */
export function RequestVerification() {
  const { me } = useSession();
  const link = useMailedLink();
  const [isSent, setIsSent] = useState(false);
  const { onSubmit, isRunning, error } = useForm(async ({ email = '' }) => {
    await request(call('POST /v1/auth/request-verify-token'), { body: { email } });
    setIsSent(true);
  });
  return (
    <form onSubmit={onSubmit}>
      <Field
        label="E-mail"
        name="email"
        type="email"
        defaultValue={me?.email ?? ''}
        autocomplete="username"
        required
      />
      <FormError error={error} />
      {isSent && (
        <p role="status">
          {link.isPrinted ? 'A link was created.' : 'We have sent you a link.'} It is valid for 24 hours.{' '}
          {link.place}
        </p>
      )}
      <button type="submit" aria-busy={isRunning}>
        {isSent ? 'Send another link' : 'Send a new link'}
      </button>
    </form>
  );
}
