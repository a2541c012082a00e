import { navigate } from '../../app/location.ts';
import { recall } from '../../app/remembered.ts';
import { projectPath } from '../../app/route.ts';
import { Field } from '../../ui/field.tsx';
import { useForm } from '../../ui/use-form.ts';

/** Opens a project by its ID, without an account. Works only if reads are open. */
export function OpenProject() {
  const { onSubmit } = useForm(async ({ project = '' }) => {
    const id = project.trim();
    if (id !== '') navigate(projectPath(id, 'overview'));
  });
  return (
    <form class="open-project" onSubmit={onSubmit}>
      <Field
        label="Open a public project by ID"
        name="project"
        defaultValue={recall('project') ?? ''}
        placeholder="Project ID"
        spellcheck={false}
        autocomplete="off"
        required
        help="Ask a member for it. Without an account you can read only if the service allows everybody to."
      />
      <button type="submit">Open</button>
    </form>
  );
}
