import { useEffect, useState } from 'preact/hooks';
import type { AgentTool, PolicyFault } from '../../api/types.ts';
import { CodeEditor, NO_FAULTS } from '../../editor/code-editor.tsx';
import { Inert } from '../../ui/inert.tsx';
import { Table } from '../../ui/table.tsx';
import { useSorted } from '../../ui/use-sorted.ts';
import type { AgentTabProps } from './agent-page.tsx';
import { FaultList } from './fault-list.tsx';
import { SaveDialog } from './save-dialog.tsx';
import { onSaveKey } from './save-key.ts';
import { draftKey } from './drafts.ts';
import { useDraft } from './use-draft.ts';

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
  const { sorted, column } = useSorted(tools, { Tool: ({ name }) => name }, { first: '' });
  if (tools.length === 0) return <p class="muted">This agent registered no tools.</p>;
  return (
    <Table label="Tools" columns={[column('Tool'), 'Hints', 'Description']}>
      {sorted.map(({ name, description = '', annotations }, index) => (
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

function TextPart(props: TextPartProps) {
  const { projectId, agentName, latest, mayEdit, part, title, note } = props;
  const draft = useDraft(draftKey(projectId, agentName, part), latest[part]);
  const { text } = draft;
  const { isChecking, faults } = useYamlFaults(text, mayEdit && part === 'agent_yaml');
  const [goTo, setGoTo] = useState<{ line: number; column: number } | undefined>(undefined);
  const [isSaving, setIsSaving] = useState(false);
  const maySave = mayEdit && draft.isChanged && !isChecking && faults.length === 0;
  return (
    <section
      class="panel"
      aria-label={title}
      tabIndex={-1}
      onKeyDown={onSaveKey(() => {
        if (maySave) setIsSaving(true);
      })}
    >
      <h2>
        {title}
        {mayEdit && (
          <button
            type="button"
            class="small"
            disabled={!maySave}
            aria-keyshortcuts="Control+S"
            title="Ctrl+S"
            onClick={() => setIsSaving(true)}
          >
            Save…
          </button>
        )}
      </h2>
      <p class="muted">{note}</p>
      <CodeEditor
        text={text}
        revision={draft.revision}
        label={title}
        isYaml={part === 'agent_yaml'}
        isReadOnly={!mayEdit}
        faults={faults}
        goTo={goTo}
        onChange={draft.set}
      />
      <FaultList label={`Errors in the ${title.toLowerCase()}`} faults={faults} onPick={setGoTo} />
      {isSaving && (
        <SaveDialog
          {...props}
          title={`Save version ${latest.version + 1} with this ${title.toLowerCase()}?`}
          draft={draft}
          onClose={() => setIsSaving(false)}
        />
      )}
    </section>
  );
}

/** The YAML faults of a text. The YAML parser is loaded once a text has been changed. */
function useYamlFaults(text: string, isOn: boolean): { isChecking: boolean; faults: PolicyFault[] } {
  const [checked, setChecked] = useState({ text: undefined as string | undefined, faults: NO_FAULTS });
  useEffect(() => {
    if (!isOn) return undefined;
    let isLatest = true;
    import('../../../../agents/yaml-faults.ts').then(
      ({ yamlFaults }) => isLatest && setChecked({ text, faults: yamlFaults(text) }),
      // Without the code there is no check. The difference is still shown before saving.
      () => isLatest && setChecked({ text, faults: NO_FAULTS }),
    );
    return () => void (isLatest = false);
  }, [text, isOn]);
  return { isChecking: isOn && checked.text !== text, faults: isOn ? checked.faults : NO_FAULTS };
}
