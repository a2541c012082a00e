import { type ApiError, explain } from '../api/api-error.ts';
import { Icon } from './icon.tsx';

/** The error of a form, shown above its button. */
export function FormError({ error, title }: { error: ApiError | undefined; title?: string | undefined }) {
  if (error === undefined) return null;
  const explained = explain(error);
  return (
    <div class="form-error" role="alert">
      <Icon name="warn" />
      <div>
        <b>{title ?? explained.title}</b>
        {title === undefined && explained.advice !== '' && <p>{explained.advice}</p>}
      </div>
    </div>
  );
}
