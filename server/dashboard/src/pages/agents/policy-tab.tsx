import { useState } from 'preact/hooks';
import { CodeEditor } from '../../editor/code-editor.tsx';
import type { PolicyFault } from '../../api/types.ts';
import { useRole } from '../../app/role.ts';
import { useSession } from '../../app/session.tsx';
import { formatBytes, formatCount, withArticle } from '../../text/format.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Inert } from '../../ui/inert.tsx';
import type { AgentTabProps } from './agent-page.tsx';
import { DryRun } from './dry-run.tsx';
import { Replay } from './replay.tsx';
import { SaveDialog } from './save-dialog.tsx';
import { type CheckState, useCheck } from './use-check.ts';
import { draftKey, useDraft } from './use-draft.ts';

const NO_FAULTS: PolicyFault[] = [];

/** The policy editor. Checks the draft as you type; calls can be tested before saving. */
export function PolicyTab(props: AgentTabProps) {
  const { projectId, agentName, latest, mayEdit, onSaved } = props;
  const draft = useDraft(draftKey(projectId, agentName, 'policy'), latest.policy_yaml);
  const check = useCheck({ projectId, agentName }, draft.text, mayEdit);
  const [goTo, setGoTo] = useState<{ line: number; column: number } | undefined>(undefined);
  const [isSaving, setIsSaving] = useState(false);
  const isValid = check.result?.valid === true && !check.isChecking;
  const faults = check.result?.errors ?? NO_FAULTS;
  return (
    <div class="policy-tab">
      <section class="policy-main" aria-label="Policy" tabIndex={-1}>
        <div class="policy-bar">
          <span class="tag">v{latest.version}</span>
          {mayEdit ? <CheckStatus check={check} /> : <ReadOnlyNote projectId={projectId} />}
          <span class="policy-actions">
            {draft.isChanged && (
              <button type="button" class="ghost" onClick={draft.discard}>
                Discard
              </button>
            )}
            <button
              type="button"
              class="primary"
              disabled={!mayEdit || !draft.isChanged || !isValid}
              onClick={() => setIsSaving(true)}
            >
              Save…
            </button>
          </span>
        </div>
        <CodeEditor
          text={draft.text}
          revision={draft.revision}
          label="Policy in YAML"
          isReadOnly={!mayEdit}
          faults={faults}
          goTo={goTo}
          onChange={draft.set}
        />
        <FaultList faults={faults} onPick={setGoTo} />
        <FormError error={check.error} />
      </section>
      {mayEdit && (
        <div class="policy-side">
          <DryRun {...props} policyYaml={draft.text} isValid={isValid} />
          <Replay {...props} policyYaml={draft.text} isValid={isValid} />
        </div>
      )}
      {isSaving && (
        <SaveDialog
          {...props}
          policyYaml={draft.text}
          onClose={() => setIsSaving(false)}
          onSaved={() => {
            draft.settle(draft.text);
            setIsSaving(false);
            onSaved();
          }}
          onStale={() => {
            setIsSaving(false);
            onSaved();
          }}
        />
      )}
    </div>
  );
}

function ReadOnlyNote({ projectId }: { projectId: string }) {
  const { status } = useSession();
  const { role, isLoading } = useRole(projectId);
  const next = location.pathname + location.search;
  if (isLoading) return null;
  if (role !== undefined) {
    return <span class="muted">Only editors, admins and owners can edit. You are {withArticle(role)}.</span>;
  }
  if (status === 'in') {
    return (
      <span class="muted">
        Only members can edit. Ask a member to add <a href="/account">your account</a>.
      </span>
    );
  }
  return (
    <span class="muted">
      <a href={`/sign-in?${new URLSearchParams({ next })}`}>Sign in</a> as a member to edit.
    </span>
  );
}

function CheckStatus({ check: { isChecking, result, error } }: { check: CheckState }) {
  return (
    <span role="status" class="check-status">
      {statusWords()}
    </span>
  );

  function statusWords() {
    if (isChecking) return <span class="muted">Checking…</span>;
    if (error !== undefined) return <span class="tag tag-warn">check failed</span>;
    if (result === undefined) return null;
    if (!result.valid) {
      const count = result.errors.length;
      return <span class="tag tag-bad">{count === 1 ? '1 error' : `${formatCount(count)} errors`}</span>;
    }
    return (
      <>
        <span class="tag tag-good">valid</span>{' '}
        <span class="muted">
          {result.bundle === 'absent'
            ? `no bundle: ${result.bundle_absent_reason ?? 'too large'}`
            : `module ${formatBytes(result.module_bytes ?? 0)}`}
        </span>
      </>
    );
  }
}

type FaultListProps = { faults: PolicyFault[]; onPick: (place: { line: number; column: number }) => void };

/** Every error, linked to its place in the text. */
function FaultList({ faults, onPick }: FaultListProps) {
  if (faults.length === 0) return null;
  return (
    <ol class="fault-list" aria-label="Errors in the policy">
      {faults.map(({ line = 1, column = 1, message }, index) => (
        <li key={index}>
          <button type="button" onClick={() => onPick({ line, column })}>
            <span class="mono">
              {line}:{column}
            </span>
            <Inert text={message} />
          </button>
        </li>
      ))}
    </ol>
  );
}
