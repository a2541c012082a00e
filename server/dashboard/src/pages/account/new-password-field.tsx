import { Field } from '../../ui/field.tsx';

/** The service checks this as well. */
const PASSWORD_CHARS_MIN = 12;

export function NewPasswordField({ label, autofocus = false }: { label: string; autofocus?: boolean }) {
  return (
    <Field
      label={label}
      name="password"
      type="password"
      autocomplete="new-password"
      minLength={PASSWORD_CHARS_MIN}
      help={`At least ${PASSWORD_CHARS_MIN} characters. A few words that you can remember work well.`}
      required
      autofocus={autofocus}
    />
  );
}
