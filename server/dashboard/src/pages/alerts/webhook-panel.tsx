import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { useSecrets } from '../../app/secrets.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Inert } from '../../ui/inert.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useSignal } from '../../ui/use-action.ts';
import { useForm } from '../../ui/use-form.ts';
import type { SettingsProps } from './alerts-page.tsx';

/** The address that alerts are posted to. Its secret is shown only once, right after it is set. */
export function WebhookPanel(props: SettingsProps) {
  const { projectId, settings, current, onChanged, mayChange } = props;
  const { webhook } = settings;
  const say = useSay();
  const { secrets, keep, drop } = useSecrets(projectId, 'alerts');
  const signal = useSignal();
  const [isRemoving, setIsRemoving] = useState(false);
  const params = { id: projectId };
  const { onSubmit, isRunning, error } = useForm(async ({ url = '' }) => {
    // Otherwise, the secret of a webhook that has just been set would be lost.
    if ((await current()).webhook !== null) say('A webhook was set in the meantime.');
    else {
      const made = await request(call('PUT /v1/projects/{id}/alerts/webhook', params), { body: { url } });
      keep({ id: made.url, name: '', text: made.secret });
      if (signal.aborted) say('The new signing secret waits on the page Alerts.');
    }
    onChanged();
  });
  // If somebody else has set another webhook since, the secret is not shown next to it.
  const made = secrets.find(({ id }) => webhook === null || webhook.url === id);
  const remove = () => request(call('DELETE /v1/projects/{id}/alerts/webhook', params));
  return (
    <section class="panel" aria-label="Webhook">
      <h2>Webhook</h2>
      {webhook === null ? (
        <p class="muted">
          Alerts are also posted to an address of yours, signed as{' '}
          <a href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer">
            Standard Webhooks
          </a>{' '}
          describes.
        </p>
      ) : (
        <p>
          Alerts are posted to <Inert text={webhook.url} as="block" />
        </p>
      )}
      {mayChange && webhook === null && (
        <form class="inline-form" onSubmit={onSubmit}>
          <Field label="Address" name="url" placeholder="https://hooks.example.com/gatehouse" required />
          <button type="submit" aria-busy={isRunning}>
            Set webhook
          </button>
          <FormError error={error} />
        </form>
      )}
      {made !== undefined && (
        <div role="status">
          <p>
            <b>Copy the signing secret now.</b> It is not shown again.
          </p>
          <CodeBlock text={made.text} label="Signing secret" />
          <p>
            <button type="button" onClick={() => drop(made.id)}>
              Done
            </button>
          </p>
        </div>
      )}
      {mayChange && webhook !== null && made === undefined && (
        <button type="button" onClick={() => setIsRemoving(true)}>
          Remove webhook
        </button>
      )}
      {isRemoving && (
        <Confirm
          title="Remove the webhook?"
          text="Alerts are no longer posted. A new webhook gets a new secret."
          action="Remove"
          work={remove}
          onClose={() => setIsRemoving(false)}
          onDone={() => {
            if (webhook !== null) drop(webhook.url);
            onChanged();
          }}
        />
      )}
    </section>
  );
}
