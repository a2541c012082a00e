import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { diagnosticCount, lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { Annotation, EditorState, type Extension, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { PolicyFault } from '../api/types.ts';
import { HIDDEN, inertParts } from '../text/inert-text.ts';

type EditorOptions = {
  text: string;
  label: string;
  isYaml: boolean;
  isReadOnly: boolean;
  /** Shows the difference to this text. */
  original?: string | undefined;
  /** Called for changes by the user, not by `setText`. */
  onChange?: (text: string) => void;
};

const bySetText = Annotation.define<true>();

export type Editor = {
  setText(text: string): void;
  setFaults(faults: PolicyFault[]): void;
  /** Without a column the whole line is selected. */
  goTo(line: number, column?: number): void;
  destroy(): void;
};

/**
 * CodeMirror in a shadow root. There it uses adopted style sheets, which the Content-Security-Policy allows, instead of a <style> element,
 * which it forbids. CSS variables bring the page's colours into it.
 */
export function createEditor(host: HTMLElement, options: EditorOptions): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const view = new EditorView({ root, parent: root, doc: options.text, extensions: extensionsOf(options) });
  return {
    setText: (text) => {
      // A document uses only LF as line end; the text may use others.
      if (view.state.toText(text).eq(view.state.doc)) return;
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        annotations: bySetText.of(true),
      });
    },
    setFaults: (faults) => {
      // Setting an empty list of faults would also redraw the editor.
      if (faults.length === 0 && diagnosticCount(view.state) === 0) return;
      const diagnostics = faults.map((fault) => diagnosticFrom(view.state.doc, fault));
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    goTo: (line, column) => {
      const anchor = positionOf(view.state.doc, line, column ?? 1);
      const head = column === undefined ? view.state.doc.lineAt(anchor).to : anchor;
      view.dispatch({
        selection: { anchor, head },
        effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
      });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

function extensionsOf({ label, isYaml, isReadOnly, original, onChange }: EditorOptions): Extension[] {
  return [
    lineNumbers(),
    drawSelection(),
    bracketMatching(),
    highlightSpecialChars({ specialChars: new RegExp(HIDDEN), render: visibleMark }),
    theme,
    syntaxHighlighting(colours),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      'aria-label': label,
      'aria-readonly': String(isReadOnly),
      tabindex: '0',
    }),
    EditorState.tabSize.of(2),
    isYaml ? yaml() : [],
    isReadOnly
      ? [EditorState.readOnly.of(true), EditorView.editable.of(false)]
      : [history(), indentOnInput(), highlightActiveLine(), ownTyping],
    // Tab moves the focus, as everywhere on the page.
    keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
    original === undefined
      ? lintGutter()
      : unifiedMergeView({
          original,
          mergeControls: false,
          allowInlineDiffs: true,
          collapseUnchanged: { margin: 3, minSize: 6 },
        }),
    onChange === undefined
      ? []
      : EditorView.updateListener.of((update) => {
          const isByUser = update.transactions.every(
            (transaction) => transaction.annotation(bySetText) !== true,
          );
          if (update.docChanged && isByUser) onChange(update.state.doc.toString());
        }),
  ];
}

/**
 * Inserts typed text itself. Browsers may add inline styles to it, which violates the Content-Security-Policy.
 */
const ownTyping = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== 'insertText' || event.data === null || event.isComposing) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

/** Shows a bidirectional or invisible character as a mark, as the other pages do. */
function visibleMark(code: number): HTMLElement {
  const mark = document.createElement('span');
  mark.className = 'cm-specialChar';
  for (const part of inertParts(String.fromCodePoint(code))) {
    if (part.kind !== 'mark') continue;
    mark.textContent = part.code;
    mark.title = `${part.code} ${part.name}`;
  }
  return mark;
}

/** Lines and columns count from 1 and are clamped to the document. */
function positionOf(doc: Text, line: number, column: number): number {
  const { from, length } = doc.line(Math.min(Math.max(1, line), doc.lines));
  return from + Math.min(Math.max(0, column - 1), length);
}

/** Underlines from the error to the end of its word or line. */
function diagnosticFrom(doc: Text, { line = 1, column = 1, message }: PolicyFault): Diagnostic {
  const from = positionOf(doc, line, column);
  const rest = doc.sliceString(from, doc.lineAt(from).to);
  const word = /^[\w"'*./-]+/.exec(rest)?.[0].length ?? rest.length;
  return { from, to: from + Math.max(word, Math.min(1, rest.length)), severity: 'error', message };
}

const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--panel)', fontSize: '13px', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--panel-sunk)', color: 'var(--text-muted)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--focus) 28%, transparent)',
  },
  '.cm-specialChar': {
    margin: '0 1px',
    padding: '0 3px',
    borderRadius: '3px',
    backgroundColor: 'var(--soft-needs_approval)',
    color: 'var(--needs_approval)',
    fontSize: '0.8em',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--panel)',
    color: 'var(--text)',
    border: '1px solid var(--border)',
    borderRadius: '6px',
    boxShadow: 'var(--shadow)',
  },
  '.cm-diagnostic': { padding: '4px 10px', borderLeft: '3px solid var(--fill-deny)', whiteSpace: 'pre-wrap' },
  '.cm-changedLine, &.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--soft-allow)' },
  '.cm-deletedChunk': { backgroundColor: 'var(--soft-deny)' },
  '&.cm-merge-b .cm-changedText, .cm-changedText': {
    background: 'color-mix(in srgb, var(--fill-allow) 20%, transparent)',
  },
  '.cm-deletedChunk .cm-deletedText, .cm-deletedText': {
    background: 'color-mix(in srgb, var(--fill-deny) 12%, transparent)',
  },
  '.cm-collapsedLines': { background: 'var(--panel-sunk)', color: 'var(--text-muted)' },
  // Few fonts contain CodeMirror's own mark.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋯"', margin: '0 8px' },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--text-muted)', fontStyle: 'italic' },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--needs_approval)' },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: 'var(--text-muted)' },
]);
