import { type ApiError, explain } from '../api/api-error.ts';
import { Icon } from './icon.tsx';

/** The error of a form, shown above its button. */
export function FormError({ error, title }: { error: ApiError | undefined; title?: string | undefined }) {
  if (error === undefined) return null;
  // The usual explanations of these are for reads. The service says which role is needed, or what is overloaded.
  const isOfReads = error.code === 'forbidden' || error.code === 'overloaded';
  const explained = isOfReads ? { title: error.message, advice: '' } : explain(error);
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
