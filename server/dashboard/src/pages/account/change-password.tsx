import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useForm } from '../../ui/use-form.ts';
import { NewPasswordField } from './new-password-field.tsx';

/** `onChanged` is called when the other sessions have ended with the old password. */
export function ChangePassword({ onChanged }: { onChanged: () => void }) {
  const say = useSay();
  const { onSubmit, isRunning, error } = useForm(async ({ current = '', password = '' }, clear) => {
    const body = { password: current, new_password: password };
    await request(call('POST /v1/auth/change-password'), { body });
    clear();
    say('The password is changed. Your other sessions have ended.');
    onChanged();
  });
  const wrong = error?.code === 'forbidden' ? 'The current password is wrong.' : undefined;
  return (
    <form onSubmit={onSubmit}>
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
