import { useAction } from './use-action.ts';

type Fields = Record<string, string>;

/** Runs an action with the fields of a form when it is submitted. `clear` empties the form, unless it has changed since. */
export function useForm(work: (fields: Fields, clear: () => void) => Promise<void>) {
  const { run, isRunning, error } = useAction(work);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const read = () => [...new FormData(form)];
    const fields = read();
    const clear = () => {
      if (JSON.stringify(read()) === JSON.stringify(fields)) form.reset();
    };
    void run(Object.fromEntries(fields) as Fields, clear);
  };
  return { onSubmit, isRunning, error };
}
