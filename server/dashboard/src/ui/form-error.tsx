import { type ApiError, explain } from '../api/api-error.ts';
import { Icon } from './icon.tsx';

/** The error of a form, shown above its button. */
export function FormError({ error, title }: { error: ApiError | undefined; title?: string | undefined }) {
  if (error === undefined) return null;
  // Who may not do this may see the project: the service says which role it needs.
  const explained = error.code === 'forbidden' ? { title: error.message, advice: '' } : explain(error);
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
