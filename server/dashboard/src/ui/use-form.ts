import { useAction } from './use-action.ts';

/** Runs an action with the fields of a form when it is submitted. */
export function useForm(work: (fields: Record<string, string>) => Promise<void>) {
  const { run, isRunning, error } = useAction(work);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = [...new FormData(event.currentTarget as HTMLFormElement)];
    void run(Object.fromEntries(fields) as Record<string, string>);
  };
  return { onSubmit, isRunning, error };
}
