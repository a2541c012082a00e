import { useEffect, useRef } from 'preact/hooks';

import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { AgentTool } from '../../api/types.ts';
import { forgetAnswers } from '../../api/use-answer.ts';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { placeAround } from '../../ui/focus-around.ts';
import { FormError } from '../../ui/form-error.tsx';
import { Inert } from '../../ui/inert.tsx';
import { Table } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useAction } from '../../ui/use-action.ts';
import type { AgentTabProps } from './agent-page.tsx';
import { draftKey, useDraft } from './use-draft.ts';

/** The agent's registered tools, definition and system prompt. */
export function DefinitionTab(props: AgentTabProps) {
  return (
    <>
      <section class="panel">
        <h2>Tools</h2>
        <ToolTable tools={props.latest.tools} />
      </section>
      <div class="panel-row">
        <TextPart
          {...props}
          part="agent_yaml"
          title="Definition"
          note="The agent's next registration overwrites it."
        />
        <TextPart {...props} part="system_md" title="System prompt" note="Registrations do not change it." />
      </div>
    </>
  );
}

function ToolTable({ tools }: { tools: AgentTool[] }) {
  if (tools.length === 0) return <p class="muted">This agent registered no tools.</p>;
  return (
    <Table label="Tools" columns={['Tool', 'Hints', 'Description']}>
      {tools.map(({ name, description = '', annotations }, index) => (
        <tr key={index}>
          <th scope="row">
            <Inert text={name} />
          </th>
          <td>
            {annotations?.readOnlyHint === true && <span class="tag">read only</span>}{' '}
            {annotations?.destructiveHint === true && <span class="tag tag-warn">destructive</span>}
          </td>
          <td class="muted">
            <Inert text={description} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

type TextPartProps = AgentTabProps & { part: 'agent_yaml' | 'system_md'; title: string; note: string };

function TextPart({ projectId, agentName, latest, mayEdit, onSaved, part, title, note }: TextPartProps) {
  const say = useSay();
  const draft = useDraft(draftKey(projectId, agentName, part), latest[part]);
  const { text } = draft;
  const button = useRef<HTMLButtonElement>(null);
  const save = useAction(async () => {
    const saved = await request(
      call('PUT /v1/projects/{id}/agents/{name}', { params: { id: projectId, name: agentName } }),
      {
        body: { [part]: text },
        headers: { 'If-Match': latest.etag },
      },
    );
    forgetAnswers();
    say(`Saved as version ${saved.version}.`);
    draft.settle(text);
    // The button is disabled from here on.
    if (document.activeElement === button.current)
      placeAround(button.current)?.focus({ preventScroll: true });
    onSaved();
  });
  const isStale = save.error?.code === 'precondition_failed';
  // A newer version has been loaded, so saving can succeed again.
  useEffect(save.clearError, [latest.etag]);
  return (
    <section class="panel" aria-label={title} tabIndex={-1}>
      <h2>
        {title}
        {mayEdit && (
          <button
            ref={button}
            type="button"
            class="small"
            aria-busy={save.isRunning}
            disabled={!draft.isChanged || isStale}
            onClick={() => void save.run()}
          >
            Save
          </button>
        )}
      </h2>
      <p class="muted">{note}</p>
      <FormError error={save.error} />
      {isStale && (
        <button type="button" class="small" onClick={onSaved}>
          Load the newer version, keep my draft
        </button>
      )}
      <CodeEditor
        text={text}
        revision={draft.revision}
        label={title}
        isYaml={part === 'agent_yaml'}
        isReadOnly={!mayEdit}
        onChange={draft.set}
      />
    </section>
  );
}
