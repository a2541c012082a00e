import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useAction } from '../../ui/use-action.ts';
import { submitted } from './door.tsx';
import { NewPasswordField } from './new-password-field.tsx';

/** `onChanged` is called when the other sessions have ended with the old password. */
export function ChangePassword({ onChanged }: { onChanged: () => void }) {
  const [round, setRound] = useState(0);
  const say = useSay();
  const { run, isRunning, error } = useAction(
    async ({ current = '', password = '' }: Record<string, string>) => {
      const body = { password: current, new_password: password };
      await request(call('POST /v1/auth/change-password'), { body });
      setRound(round + 1);
      say('The password is changed. Your other sessions have ended.');
      onChanged();
    },
  );
  const wrong = error?.code === 'forbidden' ? 'The current password is wrong.' : undefined;
  return (
    <form key={round} onSubmit={(event) => submitted(event, (values) => void run(values))}>
      <Field
        label="Current password"
        name="current"
        type="password"
        autocomplete="current-password"
        help={<a href="/forgot-password">Reset it by e-mail</a>}
        required
      />
      <NewPasswordField label="New password" />
      <FormError error={error} title={wrong} />
      <button type="submit" class="primary" aria-busy={isRunning}>
        Change password
      </button>
    </form>
  );
}
