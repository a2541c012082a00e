import { useEffect, useState } from 'preact/hooks';
import { CodeEditor, NO_FAULTS } from '../../editor/code-editor.tsx';
import { signInHref } from '../../app/location.ts';
import { useRole } from '../../app/role.ts';
import { useSession } from '../../app/session.tsx';
import { countText, formatBytes, withArticle } from '../../text/format.ts';
import { Notice } from '../../ui/notice.tsx';
import type { AgentTabProps } from './agent-page.tsx';
import { DryRun } from './dry-run.tsx';
import { FaultList } from './fault-list.tsx';
import { Replay } from './replay.tsx';
import { onSaveKey } from './save-key.ts';
import { SavePolicy } from './save-policy.tsx';
import { type CheckState, useCheck } from './use-check.ts';
import { draftKey } from './drafts.ts';
import { useDraft } from './use-draft.ts';

/** The policy editor. Checks the draft while the person types; calls can be tested before saving. */
export function PolicyTab(props: AgentTabProps) {
  const { projectId, agentName, latest, mayEdit } = props;
  const draft = useDraft(draftKey(projectId, agentName, 'policy'), latest.policy_yaml);
  const check = useCheck({ projectId, agentName }, draft.text, mayEdit);
  const [goTo, setGoTo] = useState<{ line: number; column: number } | undefined>(undefined);
  const [isSaving, setIsSaving] = useState(false);
  const isValid = check.result?.valid === true && !check.isChecking;
  const faults = check.result?.errors ?? NO_FAULTS;
  const maySave = mayEdit && draft.isChanged && isValid;
  // Pressed before the check of the last keystroke: waits for that check.
  const [isWanted, setIsWanted] = useState(false);
  useEffect(() => {
    if (!isWanted || check.isChecking) return;
    setIsWanted(false);
    if (maySave) setIsSaving(true);
  }, [isWanted, check.isChecking]);
  return (
    <div class="policy-tab" onKeyDown={onSaveKey(() => setIsWanted(mayEdit && !isSaving))}>
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
              disabled={!maySave}
              aria-keyshortcuts="Control+S"
              title="Ctrl+S"
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
        <FaultList label="Errors in the policy" faults={faults} onPick={setGoTo} />
        {check.error !== undefined && (
          <Notice error={check.error} retry={check.retry}>
            <b>The policy could not be checked.</b>
          </Notice>
        )}
      </section>
      {mayEdit && (
        <div class="policy-side">
          <DryRun {...props} policyYaml={draft.text} isValid={isValid} />
          <Replay {...props} policyYaml={draft.text} isValid={isValid} />
        </div>
      )}
      {isSaving && <SavePolicy {...props} draft={draft} onClose={() => setIsSaving(false)} />}
    </div>
  );
}

function ReadOnlyNote({ projectId }: { projectId: string }) {
  const { status } = useSession();
  const { role, isLoading, error } = useRole(projectId);
  if (isLoading || error !== undefined) return null;
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
      <a href={signInHref()}>Sign in</a> as a member to edit.
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
      return <span class="tag tag-bad">{countText(count, 'error')}</span>;
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
