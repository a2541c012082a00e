import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { AlertRule } from '../../api/types.ts';
import { FormError } from '../../ui/form-error.tsx';
import { useAction } from '../../ui/use-action.ts';
import type { SettingsProps } from './alerts-page.tsx';

export const RULE_LABELS: Record<AlertRule, string> = {
  denials: 'Denials far above usual',
  new_names: 'New agent or tool',
  silence: 'Agent gone silent',
};
const RULE_TEXTS: Record<AlertRule, string> = {
  denials: 'An agent, or one of its tools, is denied far more often than in the last seven days.',
  new_names: 'An agent or a tool is seen for the first time.',
  silence: 'An agent makes no calls at a time when it made many on each of the last seven days.',
};
const RULES = Object.keys(RULE_LABELS) as AlertRule[];

/** Each rule is switched with one press. */
export function RuleSwitches(props: SettingsProps & { isPrinted: boolean }) {
  const { mayChange, isPrinted } = props;
  return (
    <section class="panel" aria-label="Rules">
      <fieldset class="check-list">
        <legend>Tell admins and owners by e-mail about</legend>
        {RULES.map((rule) => (
          <RuleSwitch key={rule} {...props} rule={rule} />
        ))}
      </fieldset>
      {isPrinted && (
        <p class="muted">
          This service has no e-mail provider: its mails are in its output (stderr). A webhook gets every
          alert.
        </p>
      )}
      {!mayChange && <p class="muted">Editors, admins and owners can change the rules.</p>}
    </section>
  );
}

function RuleSwitch({
  projectId,
  settings,
  onChanged,
  mayChange,
  rule,
}: SettingsProps & { rule: AlertRule }) {
  const { run, isRunning, error } = useAction(async (isOn: boolean) => {
    const body = { rules: { [rule]: isOn } };
    await request(call('PUT /v1/projects/{id}/alerts/settings', { id: projectId }), { body });
    onChanged();
  });
  return (
    <>
      <label aria-busy={isRunning}>
        <input
          type="checkbox"
          role="switch"
          checked={settings.rules[rule]}
          disabled={!mayChange}
          onClick={(event) => {
            if (isRunning) event.preventDefault();
          }}
          onChange={({ currentTarget }) => void run(currentTarget.checked)}
        />
        <span>
          <b>{RULE_LABELS[rule]}</b> <span class="muted">{RULE_TEXTS[rule]}</span>
        </span>
      </label>
      <FormError error={error} />
    </>
  );
}
