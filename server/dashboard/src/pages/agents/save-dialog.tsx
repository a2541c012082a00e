import { useEffect, useRef, useState } from 'preact/hooks';

import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { ReplayResult } from '../../api/types.ts';
import { forgetAnswers } from '../../api/use-answer.ts';
import { DiffView } from '../../editor/code-editor.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Loading } from '../../ui/states.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useAction } from '../../ui/use-action.ts';
import type { AgentTabProps } from './agent-page.tsx';
import { ReplayReport, replayDraft } from './replay.tsx';

type SaveDialogProps = AgentTabProps & {
  policyYaml: string;
  onClose: () => void;
  /** Someone else has saved: load the newer version. */
  onStale: () => void;
};

/** Shows the changes to the text and their effect on last week's decisions before saving. */
export function SaveDialog({
  projectId,
  agentName,
  latest,
  policyYaml,
  onClose,
  onSaved,
  onStale,
}: SaveDialogProps) {
  const say = useSay();
  const [replay, setReplay] = useState<ReplayResult | undefined>(undefined);
  const replaying = useAction(async () => {
    setReplay(await replayDraft({ projectId, agentName, policyYaml, window: '7d' }));
  });
  useEffect(() => void replaying.run(), []);
  const done = useRef(false);
  const save = useAction(async () => {
    const saved = await request(
      call('PUT /v1/projects/{id}/agents/{name}', { params: { id: projectId, name: agentName } }),
      {
        body: { policy_yaml: policyYaml },
        headers: { 'If-Match': latest.etag },
      },
    );
    forgetAnswers();
    done.current = true;
    say(`Saved as version ${saved.version}. Agents use it from their next run.`);
    onSaved();
  });
  const isStale = save.error?.code === 'precondition_failed';
  return (
    <Dialog title={`Save version ${latest.version + 1} of the policy?`} onClose={onClose} done={done}>
      <DiffView before={latest.policy_yaml} after={policyYaml} label="Changes" />
      <h3>Effect on the last 7 days</h3>
      {replaying.isRunning && <Loading lines={2} />}
      <FormError error={replaying.error} />
      {replay !== undefined && <ReplayReport result={replay} projectId={projectId} agentName={agentName} />}
      <FormError error={save.error} />
      <div class="dialog-actions">
        <button type="button" onClick={onClose}>
          Back to the editor
        </button>
        {isStale ? (
          <button type="button" class="primary" onClick={onStale}>
            Load the newer version, keep my draft
          </button>
        ) : (
          <button type="button" class="primary" aria-busy={save.isRunning} onClick={() => void save.run()}>
            {save.isRunning ? 'Saving…' : 'Save'}
          </button>
        )}
      </div>
    </Dialog>
  );
}
