import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { navigate } from '../../app/location.ts';
import { projectPath } from '../../app/route.ts';
import { useSession } from '../../app/session.tsx';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useAction } from '../../ui/use-action.ts';
import { submitted } from '../account/door.tsx';

export function CreateProject() {
  const session = useSession();
  const { run, isRunning, error } = useAction(async ({ name = '' }: Record<string, string>) => {
    const { id } = await request(call('POST /v1/projects'), { body: { name } });
    await session.reload();
    navigate(projectPath(id, 'overview'));
  });
  return (
    <form class="inline-form" onSubmit={(event) => submitted(event, (values) => void run(values))}>
      <Field label="New project" name="name" placeholder="Project name" maxLength={100} required />
      <button type="submit" aria-busy={isRunning}>
        Create
      </button>
      <FormError error={error} />
    </form>
  );
}
