import { useEffect, useRef, useState } from 'preact/hooks';
import type { PolicyFault } from '../api/types.ts';
import { nextTask } from '../app/next-task.ts';
import { inertText } from '../text/inert-text.ts';
import { Loading } from '../ui/states.tsx';
import type { Editor } from './create-editor.ts';

type CodeEditorProps = {
  /** The initial text, applied again whenever `revision` changes. */
  text: string;
  revision?: number;
  label: string;
  isYaml?: boolean;
  isReadOnly?: boolean;
  faults?: PolicyFault[];
  /** Moves the cursor; without a column it selects the line. A new object moves it again. */
  goTo?: { line: number; column?: number } | undefined;
  onChange?: (text: string) => void;
};

export const NO_FAULTS: PolicyFault[] = [];
const LINE_ENDS = '\t\n\r';

/** Loads the editor's code when a page needs it. */
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
  const { editor, frame } = useEditor({ text, label, isYaml, isReadOnly, onChange });
  // Not on every change of the text: it arrives late and would undo newer typing.
  useEffect(() => editor?.setText(text), [editor, revision]);
  useEffect(() => editor?.setFaults(faults), [editor, faults]);
  useEffect(() => {
    if (goTo !== undefined) editor?.goTo(goTo.line, goTo.column);
  }, [editor, goTo]);
  return <div class="code-editor">{frame}</div>;
}

type DiffViewProps = { before: string; after: string; label: string };

/** The difference of two texts. Hidden characters are spelled out, because the editor does not mark them in removed lines. */
export function DiffView({ before, after, label }: DiffViewProps) {
  const { frame } = useEditor({
    text: inertText(after, LINE_ENDS),
    label,
    isYaml: true,
    isReadOnly: true,
    original: inertText(before, LINE_ENDS),
  });
  return <div class="code-editor code-diff">{frame}</div>;
}

type UseEditorOptions = {
  text: string;
  label: string;
  isYaml: boolean;
  isReadOnly: boolean;
  original?: string;
  onChange?: ((text: string) => void) | undefined;
};

/** Half a screen before it becomes visible. Until then its text is shown; creating an editor would block a phone. */
function whenNearlySeen(element: Element): Promise<void> {
  return new Promise((resolve) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        observer.disconnect();
        resolve();
      },
      { rootMargin: '50%' },
    );
    observer.observe(element);
  });
}

/** Its code runs in one task and the editor is created in the next: together they would block a phone. */
async function loadEditor(frame: Element) {
  await whenNearlySeen(frame);
  const loaded = await import('./create-editor.ts');
  await nextTask();
  return loaded;
}

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
    loadEditor(host.current?.parentElement as Element).then(
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
  const frame = (
    <>
      {editor === undefined && !isFailed && original !== undefined && <Loading lines={8} />}
      {editor === undefined && !isFailed && original === undefined && (
        <pre class="editor-text">{inertText(options.text, LINE_ENDS)}</pre>
      )}
      {isFailed && <PlainEditor {...options} />}
      <div ref={host} class={editor === undefined ? 'editor-host is-waiting' : 'editor-host'} />
    </>
  );
  return { editor, frame };
}

/** The fallback when the editor's code cannot be loaded. */
function PlainEditor({ text, label, isReadOnly, onChange }: UseEditorOptions) {
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
