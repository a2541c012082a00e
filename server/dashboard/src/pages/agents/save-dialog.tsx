import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { asApiError } from '../../api/api-error.ts';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { forgetAnswers } from '../../api/use-answer.ts';
import { DiffView } from '../../editor/code-editor.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useAction, useSignal } from '../../ui/use-action.ts';
import type { AgentTabProps } from './agent-page.tsx';
import type { Draft } from './use-draft.ts';

const NOTE_CHARS_MAX = 500;

export type SaveDialogProps = AgentTabProps & {
  part: 'policy_yaml' | 'agent_yaml' | 'system_md';
  title: string;
  draft: Draft;
  /** False while something must still be shown before saving. */
  isReady?: boolean;
  /** Explains the effect of saving, below the changes. */
  children?: ComponentChildren;
  onClose: () => void;
};

/** Shows the changes to a text of an agent before it is saved as a new version. */
export function SaveDialog(props: SaveDialogProps) {
  const { projectId, agentName, latest, part, title, draft, isReady = true, children } = props;
  const { onClose, onSaved } = props;
  const { text } = draft;
  const say = useSay();
  const done = useRef(false);
  const [note, setNote] = useState('');
  const noteId = useId();
  /** Loads the current latest version. */
  const finish = () => {
    onClose();
    onSaved();
  };
  const signal = useSignal();
  const save = useAction(async () => {
    const agent = call('PUT /v1/projects/{id}/agents/{name}', { id: projectId, name: agentName });
    const saved = await request(agent, {
      body: { [part]: text, ...(note.trim() === '' ? {} : { note: note.trim() }) },
      headers: { 'If-Match': latest.etag },
    }).catch((error: unknown) => {
      if (signal.aborted) say(`Not saved: ${asApiError(error).message}. Your draft is kept.`);
      throw error;
    });
    forgetAnswers();
    done.current = true;
    const effect = part === 'policy_yaml' ? ' Agents use it from their next run.' : '';
    say(`Saved as version ${saved.version}.${effect}`);
    draft.settle(text);
    finish();
  });
  const isStale = save.error?.code === 'precondition_failed';
  return (
    <Dialog title={title} kind={children === undefined ? '' : 'dialog-save'} onClose={onClose} done={done}>
      {/* The browser would focus the first button, which may be gone soon. */}
      <div class="dialog-body" tabIndex={-1} autofocus>
        <DiffView before={latest[part]} after={text} label="Changes" />
        {children}
        <div class="field">
          <label for={noteId}>Note (optional)</label>
          <textarea
            id={noteId}
            rows={2}
            maxLength={NOTE_CHARS_MAX}
            placeholder="Why this change?"
            value={note}
            onInput={({ currentTarget }) => setNote(currentTarget.value)}
          />
        </div>
        <FormError error={save.error} />
      </div>
      <div class="dialog-actions">
        <button type="button" onClick={onClose}>
          Back to the editor
        </button>
        {isStale ? (
          <button type="button" class="primary" onClick={finish}>
            Load the newer version, keep my draft
          </button>
        ) : (
          <button
            type="button"
            class="primary"
            aria-busy={save.isRunning}
            disabled={!isReady}
            onClick={() => void save.run()}
          >
            {save.isRunning ? 'Saving…' : 'Save'}
          </button>
        )}
      </div>
    </Dialog>
  );
}
