import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

type FieldProps = {
  label: string;
  name: string;
  type?: 'text' | 'email' | 'password' | 'number';
  help?: ComponentChildren;
  error?: string | undefined;
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

/** A labelled input with its help and its error beside it. */
export function Field({ label, help, error, ...input }: FieldProps) {
  const id = useId();
  const hasNote = help !== undefined || error !== undefined;
  // Preact has a type of its own for each kind of input; which kind it is, is known only to the caller.
  const attributes: Record<string, unknown> = {
    ...input,
    ...(error === undefined ? {} : { 'aria-invalid': true }),
    ...(hasNote ? { 'aria-describedby': `${id}-note` } : {}),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input {...attributes} id={id} />
      {hasNote && (
        <p id={`${id}-note`} class={error === undefined ? 'field-help' : 'field-error'}>
          {error ?? help}
        </p>
      )}
    </div>
  );
}
