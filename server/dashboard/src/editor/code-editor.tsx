import { useEffect, useRef, useState } from 'preact/hooks';
import type { PolicyFault } from '../api/types.ts';
import { inertText } from '../text/inert-text.ts';
import { Loading } from '../ui/states.tsx';
import type { Editor } from './create-editor.ts';

type CodeEditorProps = {
  /** What stands in the editor at first, and again whenever `revision` changes. What is typed is the editor's own. */
  text: string;
  revision?: number;
  label: string;
  isYaml?: boolean;
  isReadOnly?: boolean;
  faults?: PolicyFault[];
  /** Where to put the cursor; a new object moves it again. */
  goTo?: { line: number; column: number } | undefined;
  onChange?: (text: string) => void;
};

const NO_FAULTS: PolicyFault[] = [];
const LINE_ENDS = '\t\n\r';

/** The editor comes in a file of its own, when a page needs it. */
export function CodeEditor({
  text,
  revision = 0,
  label,
  isYaml = true,
  isReadOnly = false,
  faults = NO_FAULTS,
  goTo,
  onChange,
}: CodeEditorProps) {
  const { host, editor, isFailed } = useEditor({ text, label, isYaml, isReadOnly, onChange });
  // Not at every change of the text: it comes back here late, when more has been typed, and would undo that.
  useEffect(() => editor?.setText(text), [editor, revision]);
  useEffect(() => editor?.setFaults(faults), [editor, faults]);
  useEffect(() => {
    if (goTo !== undefined) editor?.goTo(goTo.line, goTo.column);
  }, [editor, goTo]);
  return (
    <div class="code-editor">
      {editor === undefined && !isFailed && <Loading lines={8} />}
      {isFailed && <PlainEditor text={text} label={label} isReadOnly={isReadOnly} onChange={onChange} />}
      <div ref={host} class={editor === undefined ? 'editor-host is-waiting' : 'editor-host'} />
    </div>
  );
}

type DiffViewProps = { before: string; after: string; label: string };

/** What changed from one text to another. Hidden characters are spelled out: the editor leaves removed lines as they are. */
export function DiffView({ before, after, label }: DiffViewProps) {
  const { host, editor, isFailed } = useEditor({
    text: inertText(after, LINE_ENDS),
    label,
    isYaml: true,
    isReadOnly: true,
    original: inertText(before, LINE_ENDS),
  });
  return (
    <div class="code-editor code-diff">
      {editor === undefined && !isFailed && <Loading lines={8} />}
      {isFailed && <PlainEditor text={after} label={label} isReadOnly onChange={undefined} />}
      <div ref={host} class={editor === undefined ? 'editor-host is-waiting' : 'editor-host'} />
    </div>
  );
}

type UseEditorOptions = {
  text: string;
  label: string;
  isYaml: boolean;
  isReadOnly: boolean;
  original?: string;
  onChange?: ((text: string) => void) | undefined;
};

function useEditor(options: UseEditorOptions) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(options);
  latest.current = options;
  const [editor, setEditor] = useState<Editor | undefined>(undefined);
  const [isFailed, setIsFailed] = useState(false);
  const { isReadOnly, original } = options;
  useEffect(() => {
    let made: Editor | undefined;
    let isGone = false;
    import('./create-editor.ts').then(
      ({ createEditor }) => {
        if (isGone || host.current === null) return;
        const { onChange: _own, ...rest } = latest.current;
        made = createEditor(host.current, { ...rest, onChange: (text) => latest.current.onChange?.(text) });
        setEditor(made);
      },
      () => setIsFailed(true),
    );
    return () => {
      isGone = true;
      made?.destroy();
      setEditor(undefined);
    };
  }, [isReadOnly, original]);
  return { host, editor, isFailed };
}

type PlainEditorProps = Pick<UseEditorOptions, 'text' | 'label' | 'isReadOnly' | 'onChange'>;

/** When the editor's file does not load, a text area does. */
function PlainEditor({ text, label, isReadOnly, onChange }: PlainEditorProps) {
  return (
    <textarea
      aria-label={label}
      rows={24}
      readOnly={isReadOnly}
      value={text}
      spellcheck={false}
      onInput={({ currentTarget }) => onChange?.(currentTarget.value)}
    />
  );
}
