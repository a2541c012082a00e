import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { navigate } from '../../app/location.ts';
import { projectPath } from '../../app/route.ts';
import { useSession } from '../../app/session.tsx';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useSignal } from '../../ui/use-action.ts';
import { useForm } from '../../ui/use-form.ts';

export function CreateProject() {
  const session = useSession();
  const signal = useSignal();
  const { onSubmit, isRunning, error } = useForm(async ({ name = '' }) => {
    const { id } = await request(call('POST /v1/projects'), { body: { name } });
    await session.reload();
    // Who has gone elsewhere in the meantime stays there.
    if (!signal.aborted) navigate(projectPath(id, 'overview'));
  });
  return (
    <form class="inline-form" onSubmit={onSubmit}>
      <Field label="New project" name="name" placeholder="Project name" maxLength={100} required />
      <button type="submit" aria-busy={isRunning}>
        Create
      </button>
      <FormError error={error} />
    </form>
  );
}
