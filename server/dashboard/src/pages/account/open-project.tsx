import { navigate } from '../../app/location.ts';
import { recall } from '../../app/remembered.ts';
import { projectPath } from '../../app/route.ts';
import { Field } from '../../ui/field.tsx';
import { submitted } from './door.tsx';

/** Where reads are open, a project can be looked at without an account: its id is enough. */
export function OpenProject() {
  return (
    <form
      class="open-project"
      onSubmit={(event) =>
        submitted(event, ({ project }) => {
          const id = project?.trim() ?? '';
          if (id !== '') navigate(projectPath(id, 'overview'));
        })
      }
    >
      <Field
        label="Or look at a project without an account"
        name="project"
        defaultValue={recall('project') ?? ''}
        placeholder="Project id"
        spellcheck={false}
        autocomplete="off"
        required
        help="The service prints the id when it starts. It works where reads are open."
      />
      <button type="submit">Open</button>
    </form>
  );
}
