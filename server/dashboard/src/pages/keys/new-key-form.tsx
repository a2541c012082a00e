import { useId, useState } from 'preact/hooks';

import { DEFAULT_SCOPE, type Scope, SCOPES } from '../../../../rights.ts';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { NewKey } from '../../api/types.ts';
import { Field } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useForm } from '../../ui/use-form.ts';
import { SCOPE_LABELS } from './scope-labels.ts';

const SCOPE_TEXTS: Record<Scope, string> = {
  emit_audit: 'Record decisions and model calls, fetch policies, register agents',
  fetch_policy: 'Included in “write events”',
  register_agent: 'Included in “write events”',
  read_audit: 'Read records, where reads need a key',
  edit_policy: 'Save and check policies. Do not give this to agents.',
};

type NewKeyFormProps = { projectId: string; onMade: (key: NewKey) => void };

export function NewKeyForm({ projectId, onMade }: NewKeyFormProps) {
  const [scopes, setScopes] = useState<string[]>(DEFAULT_SCOPE.split(' '));
  const agentsId = useId();
  const { onSubmit, isRunning, error } = useForm(async ({ name = '', days = '', agents = '' }, clear) => {
    const names = agents.split('\n').map((line) => line.trim());
    const narrowed = names.filter((agent) => agent !== '');
    const body = {
      name: name.trim(),
      scope: SCOPES.filter((scope) => scopes.includes(scope)).join(' '),
      ...(days === '' ? {} : { expires_in_days: Number(days) }),
      ...(narrowed.length === 0 ? {} : { agents: narrowed }),
    };
    onMade(await request(call('POST /v1/projects/{id}/keys', { id: projectId }), { body }));
    clear();
  });
  return (
    <form class="key-form" onSubmit={onSubmit} onReset={() => setScopes(DEFAULT_SCOPE.split(' '))}>
      <div class="key-form-fields">
        <Field label="Name" name="name" placeholder="Where it is used" maxLength={100} autocomplete="off" />
        <Field
          label="Expires after (days)"
          name="days"
          type="number"
          min={1}
          max={3650}
          placeholder="never"
        />
        <div class="field">
          <label for={agentsId}>Limit to agents</label>
          <textarea
            id={agentsId}
            name="agents"
            rows={3}
            placeholder="All agents"
            aria-describedby={`${agentsId}-help`}
          />
          <p id={`${agentsId}-help`} class="field-help">
            One name per line, at most 50. Does not limit reads.
          </p>
        </div>
      </div>
      <ScopeBoxes chosen={scopes} onChange={setScopes} />
      <FormError error={error} />
      <div class="key-form-end">
        <button type="submit" class="primary" aria-busy={isRunning} disabled={scopes.length === 0}>
          Create key
        </button>
        {scopes.length === 0 && <span class="muted">Choose at least one permission.</span>}
      </div>
    </form>
  );
}

type ScopeBoxesProps = { chosen: string[]; onChange: (scopes: string[]) => void };

function ScopeBoxes({ chosen, onChange }: ScopeBoxesProps) {
  return (
    <fieldset class="check-list">
      <legend>Permissions</legend>
      {SCOPES.map((scope) => (
        <label key={scope}>
          <input
            type="checkbox"
            name={scope}
            checked={chosen.includes(scope)}
            onChange={({ currentTarget }) =>
              onChange(currentTarget.checked ? [...chosen, scope] : chosen.filter((one) => one !== scope))
            }
          />
          <span>
            <span class="scope-name">{SCOPE_LABELS[scope]}</span>{' '}
            <span class="muted">{SCOPE_TEXTS[scope]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
