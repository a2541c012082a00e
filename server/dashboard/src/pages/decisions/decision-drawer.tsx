import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import type { FilterName } from '../../api/call.ts';
import { useRetry } from '../../api/use-answer.ts';
import { hrefWith } from '../../app/location.ts';
import { agentPath } from '../../app/route.ts';
import { formatBytes } from '../../text/format.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Drawer } from '../../ui/drawer.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Inert, Role } from '../../ui/inert.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { OutcomeBadge, Violations } from '../../ui/outcome.tsx';
import { EmptyState, ErrorState, Loading } from '../../ui/states.tsx';
import { JsonNumber, type JsonObject } from '../../api/types.ts';
import type { DecisionFeed, FeedRow } from './decision-feed.ts';
import { ProofSection } from './proof-section.tsx';

/** Longer names cannot exist in the service, so they are not linked. */
const NAME_CHARS_MAX = 400;

type DecisionDrawerProps = {
  feed: DecisionFeed;
  eventId: string;
  pageCursor: string | undefined;
  onClose: () => void;
};

type Found = { record?: FeedRow | undefined; error?: ApiError; isDone: boolean };

/** The details of one decision. */
export function DecisionDrawer({ feed, eventId, pageCursor, onClose }: DecisionDrawerProps) {
  const [found, setFound] = useState<Found>({ isDone: false });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    const show = (next: Found) => {
      if (isCurrent) setFound(next);
    };
    feed.findRecord(eventId, pageCursor).then(
      (record) => show({ record, isDone: true }),
      (error: unknown) => show({ ...(error instanceof ApiError ? { error } : {}), isDone: true }),
    );
    return () => void (isCurrent = false);
  }, [feed, eventId, round]);
  const { record, error, isDone } = found;
  const retry = () => setRound(round + 1);
  useRetry(error, retry);
  return (
    <Drawer
      label="Decision"
      title={record === undefined ? 'Decision' : <OutcomeBadge outcome={record.outcome} />}
      onClose={onClose}
    >
      {!isDone && <Loading lines={8} />}
      {error !== undefined && <ErrorState error={error} retry={retry} />}
      {isDone && record === undefined && error === undefined && (
        <EmptyState title="Decision not found">
          <p>It is outside the period, does not match the filters, or is too far down the list.</p>
        </EmptyState>
      )}
      {record !== undefined && <Details record={record} />}
    </Drawer>
  );
}

function Details({ record }: { record: FeedRow }) {
  const { agent_name, tool_name, role, reason, violations, project_id } = record;
  return (
    <>
      <p class="drawer-lead">
        <b>
          <Inert text={tool_name} />
        </b>{' '}
        proposed by{' '}
        {agent_name.length <= NAME_CHARS_MAX ? (
          <a href={agentPath(project_id, agent_name)}>
            <Inert text={agent_name} />
          </a>
        ) : (
          <Inert text={agent_name} />
        )}{' '}
        as <Role role={role} />
      </p>
      {reason !== '' && (
        <Section title="Reason">
          <Inert text={reason} as="block" />
        </Section>
      )}
      {violations.length > 0 && (
        <Section title="Violations">
          <Violations outcome={record.outcome} violations={violations} />
        </Section>
      )}
      <Section title="Arguments">
        <Json value={record.arguments} />
      </Section>
      <Section title="Hint">
        <Json value={record.hint} />
      </Section>
      <Section title="Record">
        <Fields record={record} />
      </Section>
      <ProofSection key={record.event_id} record={record} />
    </>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="drawer-section">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** An object as a tree. Arguments that the client truncated show their beginning. */
function Json({ value }: { value: JsonObject | null }) {
  if (value === null) return <p class="muted">none</p>;
  if (value['_truncated'] !== true) return <JsonTree value={value} />;
  const { original_bytes: size, preview } = value;
  const bytes = size instanceof JsonNumber ? Number(size.source) : size;
  return (
    <>
      <p class="mark mark-truncated">
        <Icon name="warn" /> Truncated by the client
        {typeof bytes === 'number' && ` from ${formatBytes(bytes)}`}. This is the beginning.
      </p>
      {typeof preview === 'string' ? (
        <pre class="preview" tabIndex={0} role="region" aria-label="Beginning of the arguments">
          <Inert text={preview} as="block" />
        </pre>
      ) : (
        <JsonTree value={value} />
      )}
    </>
  );
}

type TextField = { [Name in keyof FeedRow]: FeedRow[Name] extends string ? Name : never }[keyof FeedRow];

const FILTERED: [label: string, field: TextField, filter: FilterName | undefined][] = [
  ['Occurred', 'occurred_at', undefined],
  ['Received', 'received_at', undefined],
  ['Agent', 'agent_name', 'agent'],
  ['Tool', 'tool_name', 'tool'],
  ['Role', 'role', 'role'],
  ['User', 'user_id', 'user_id'],
  ['Session', 'session_id', 'session_id'],
  ['Error type', 'error_type', undefined],
  ['Event', 'event_id', undefined],
  ['Agent version', 'agent_version_id', undefined],
  ['Project', 'project_id', undefined],
];

function Fields({ record }: { record: FeedRow }) {
  return (
    <dl class="fields">
      {FILTERED.map(([label, field, filter]) => {
        const value = record[field];
        const hasName = value !== '' && value.length <= NAME_CHARS_MAX;
        const mayFilter = filter !== undefined && (hasName || (filter === 'role' && value === ''));
        return (
          <div key={field}>
            <dt>{label}</dt>
            <dd>
              {field === 'role' ? <Role role={value} /> : <Inert text={value === '' ? '–' : value} />}
              {mayFilter && (
                <a
                  class="filter-to"
                  href={hrefWith({ [filter]: value, event: undefined, at: undefined })}
                  aria-label={`Only this ${label.toLowerCase()}`}
                  title={`Only this ${label.toLowerCase()}`}
                >
                  <Icon name="filter" />
                </a>
              )}
              {field === 'event_id' && <CopyButton text={value} />}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
