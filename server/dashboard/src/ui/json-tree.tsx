import { useState } from 'preact/hooks';
import { JsonNumber, type JsonValue } from '../api/types.ts';
import { formatCount } from '../text/format.ts';
import { Inert } from './inert.tsx';

/** Deeper values, and values with more entries, start collapsed. */
const OPEN_DEPTH = 3;
const OPEN_ENTRIES = 30;
/** Entries shown at a time. */
const ENTRIES_STEP = 100;
const REDACTED = '[REDACTED]';

/** Any JSON value as a collapsible tree. Numbers keep the digits that were sent. */
export function JsonTree({ value }: { value: JsonValue }) {
  return (
    <div class="json-tree">
      <Node value={value} depth={0} />
    </div>
  );
}

type NodeProps = { name?: string | undefined; value: JsonValue; depth: number };

function Node({ name, value, depth }: NodeProps) {
  if (value === null || typeof value !== 'object' || value instanceof JsonNumber) {
    return (
      <div class="json-line">
        <Name name={name} />
        <Scalar value={value} />
      </div>
    );
  }
  return <Branch name={name} value={value} depth={depth} />;
}

function Branch({ name, value, depth }: NodeProps & { value: JsonValue[] | { [key: string]: JsonValue } }) {
  const isList = Array.isArray(value);
  const entries: [string, JsonValue][] = isList
    ? value.map((item, index) => [String(index), item])
    : Object.entries(value);
  const [isOpen, setIsOpen] = useState(depth < OPEN_DEPTH && entries.length <= OPEN_ENTRIES);
  const [shown, setShown] = useState(ENTRIES_STEP);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return (
      <div class="json-line">
        <Name name={name} />
        <span class="json-mark">
          {open}
          {close}
        </span>
      </div>
    );
  }
  return (
    <details
      class="json-branch"
      open={isOpen}
      onToggle={(event) => {
        event.stopPropagation();
        setIsOpen(event.currentTarget.open);
      }}
    >
      <summary class="json-line">
        <Name name={name} />
        <span class="json-mark">
          {open} {formatCount(entries.length)} {close}
        </span>
      </summary>
      {isOpen && (
        <div class="json-children">
          {entries.slice(0, shown).map(([key, item]) => (
            <Node key={key} name={isList ? undefined : key} value={item} depth={depth + 1} />
          ))}
          {entries.length > shown && (
            <button type="button" class="link" onClick={() => setShown(shown + ENTRIES_STEP)}>
              … {formatCount(entries.length - shown)} more
            </button>
          )}
        </div>
      )}
    </details>
  );
}

function Name({ name }: { name: string | undefined }) {
  if (name === undefined) return null;
  return (
    <span class="json-name">
      <Inert text={name} />:{' '}
    </span>
  );
}

function Scalar({ value }: { value: null | boolean | number | string | JsonNumber }) {
  if (value === REDACTED) {
    return (
      <span class="mark mark-redacted" title="The client removed this value because its key names a secret">
        redacted
      </span>
    );
  }
  if (typeof value === 'string') {
    return (
      <span class="json-string">
        "<Inert text={value} as="block" />"
      </span>
    );
  }
  const text = value instanceof JsonNumber ? value.source : String(value);
  return (
    <span class={typeof value === 'boolean' || value === null ? 'json-word' : 'json-number'}>{text}</span>
  );
}
