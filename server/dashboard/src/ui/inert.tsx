import { useState } from 'preact/hooks';
import { cutText, inertParts, TEXT_CHARS_BLOCK, TEXT_CHARS_LINE } from '../text/inert-text.ts';
import { formatCount } from '../text/format.ts';

type InertProps = {
  text: string;
  /** `line` for a cell, `block` for a text with line breaks. */
  as?: 'line' | 'block';
};

/** Untrusted text. It is never shown as HTML, never reordered by bidirectional characters, and cut to a limit. */
export function Inert({ text, as = 'line' }: InertProps) {
  const charsStep = as === 'line' ? TEXT_CHARS_LINE : TEXT_CHARS_BLOCK;
  const [charsMax, setCharsMax] = useState(charsStep);
  const shown = cutText(text, charsMax);
  const rest = text.length - shown.length;
  const parts = inertParts(shown, as === 'block' ? '\n\t' : '');
  return (
    <bdi class={`inert inert-${as}`}>
      {parts.map((part) =>
        part.kind === 'text' ? (
          part.text
        ) : (
          <span class="inert-mark" title={`${part.code} ${part.name}`}>
            {part.code}
          </span>
        ),
      )}
      {rest > 0 && as === 'line' && <span class="inert-rest">… {formatCount(rest)} more characters</span>}
      {rest > 0 && as === 'block' && (
        <button type="button" class="link" onClick={() => setCharsMax(charsMax + charsStep * 5)}>
          … show more of {formatCount(rest)} characters
        </button>
      )}
    </bdi>
  );
}

/** The role of a record. The empty role has a label on display only. */
export function Role({ role }: { role: string }) {
  return role === '' ? <span class="muted">(none)</span> : <Inert text={role} />;
}
