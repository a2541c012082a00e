import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

type FieldProps = {
  label: string;
  name: string;
  type?: 'text' | 'email' | 'password' | 'number';
  help?: ComponentChildren;
  autocomplete?: string;
  placeholder?: string;
  defaultValue?: string;
  required?: boolean;
  autofocus?: boolean;
  spellcheck?: boolean;
  minLength?: number;
  maxLength?: number;
  min?: number;
  max?: number;
};

/** An input with a label and a help text. */
export function Field({ label, help, ...input }: FieldProps) {
  const id = useId();
  // Preact types each kind of input separately, and only the caller knows the kind.
  const attributes: Record<string, unknown> = {
    ...input,
    ...(help === undefined ? {} : { 'aria-describedby': `${id}-help` }),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input {...attributes} id={id} />
      {help !== undefined && (
        <p id={`${id}-help`} class="field-help">
          {help}
        </p>
      )}
    </div>
  );
}
