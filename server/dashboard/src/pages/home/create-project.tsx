import { request } from '../../api/request.ts';
import type { Project } from '../../api/types.ts';
import { navigate } from '../../app/location.ts';
import { projectPath } from '../../app/route.ts';
import { useSession } from '../../app/session.tsx';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useAction } from '../../ui/use-action.ts';
import { submitted } from '../account/door.tsx';

export function CreateProject() {
  const session = useSession();
  const { run, isRunning, error } = useAction(async ({ name }: Record<string, string>) => {
    const { id } = await request<Project>('/v1/projects', { method: 'POST', body: { name } });
    await session.reload();
    navigate(projectPath(id, 'overview'));
  });
  return (
    <form class="inline-form" onSubmit={(event) => submitted(event, (values) => void run(values))}>
      <Field label="New project" name="name" placeholder="Its name" maxLength={100} required />
      <button type="submit" disabled={isRunning}>
        Create
      </button>
      <FormError error={error} />
    </form>
  );
}
