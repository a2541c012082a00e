import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { writeExact } from '../../api/parse-exact.ts';
import { type DecisionRecord, JsonNumber, type JsonObject } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import type { FilterName } from '../../app/filters.ts';
import { hrefWith, navigate } from '../../app/location.ts';
import { agentPath, decisionPath, projectPath } from '../../app/route.ts';
import { formatBytes } from '../../text/format.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { curlRead } from '../../ui/curl-command.ts';
import { Drawer } from '../../ui/drawer.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Inert, Role } from '../../ui/inert.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { OutcomeBadge, Violations } from '../../ui/outcome.tsx';
import { EmptyState, Waiting } from '../../ui/states.tsx';
import { useAction, useSignal } from '../../ui/use-action.ts';
import type { DecisionFeed } from './decision-feed.ts';
import { type Among, type Direction, neighbourOf } from './neighbours.ts';
import { PolicySection } from './policy-section.tsx';
import { ProofSection } from './proof-section.tsx';

/** The service has no longer names, so they are not linked. */
const NAME_CHARS_MAX = 400;

type DecisionDrawerProps = { projectId: string; feed: DecisionFeed; among: Among; eventId: string };

/** The details of one decision, by its id: it need not be in the list. */
export function DecisionDrawer({ projectId, feed, among, eventId }: DecisionDrawerProps) {
  const beside = feed.near(eventId);
  const { record: listed } = beside;
  const isLast = beside.isListed === true && beside.older === undefined;
  const { isAtEnd, isLoading, error } = feed.state;
  useEffect(() => {
    // After an error the page retries after a pause.
    if (isLast && !isAtEnd && !isLoading && error === undefined) void feed.loadMore();
  }, [isLast, isAtEnd, isLoading, error]);
  const params = { id: projectId, event_id: eventId };
  const asked = call('GET /v1/projects/{id}/audit/decisions/{event_id}', params);
  const found = useAnswer(listed === undefined ? asked : undefined);
  const record = listed ?? found.data;
  // Created here, because FarSteps is removed if the list arrives while a neighbour is looked up.
  const signal = useSignal(eventId);
  const list = projectPath(projectId, 'decisions');
  const show = (id: string) =>
    navigate(hrefWith({}, decisionPath(projectId, id)), { replace: true, staysPut: true });
  return (
    <Drawer
      label="Decision"
      title={record === undefined ? 'Decision' : <OutcomeBadge outcome={record.outcome} />}
      onClose={() => navigate(hrefWith({}, list), { staysPut: true })}
    >
      <div class="drawer-actions">
        <CopyButton label="Copy link" text={location.origin + decisionPath(projectId, eventId)} />
        {record !== undefined && <CopyButton label="JSON" text={() => writeExact(record, 2)} />}
        <CopyButton label="cURL" text={() => curlRead(asked.path)} />
        {beside.isListed === true ? (
          <Steps {...beside} show={show} />
        ) : (
          record !== undefined && (
            <FarSteps key={eventId} record={record} among={{ ...among, signal }} show={show} />
          )
        )}
      </div>
      {record !== undefined ? (
        <Details key={eventId} record={record} list={list} />
      ) : found.error?.code === 'not_found' ? (
        <EmptyState title="Decision not found">
          <p>This project has no decision with this ID. Decisions are kept for 90 days.</p>
        </EmptyState>
      ) : (
        <Waiting answer={found} lines={8} />
      )}
    </Drawer>
  );
}

type StepsProps = { newer?: string; older?: string; show: (eventId: string) => void };

/** Buttons to the neighbours of this record in the list. */
function Steps({ newer, older, show }: StepsProps) {
  return (
    <span class="drawer-steps">
      <button type="button" class="small" disabled={newer === undefined} onClick={() => show(newer ?? '')}>
        Newer
      </button>
      <button type="button" class="small" disabled={older === undefined} onClick={() => show(older ?? '')}>
        Older
      </button>
    </span>
  );
}

type FarStepsProps = { record: DecisionRecord; among: Among; show: (eventId: string) => void };

/** Buttons to the neighbours of a record that is not in the list. Each neighbour is looked up when its button is pressed. */
function FarSteps({ record, among, show }: FarStepsProps) {
  const [ends, setEnds] = useState<Direction[]>([]);
  const { run, isRunning, error } = useAction(async (direction: Direction) => {
    const found = await neighbourOf(record, direction, among);
    if (found === undefined) setEnds([...ends, direction]);
    else show(found.event_id);
  });
  return (
    <>
      <span class="drawer-steps">
        {(['newer', 'older'] as const).map((direction) => (
          <button
            key={direction}
            type="button"
            class="small"
            disabled={ends.includes(direction)}
            aria-busy={isRunning}
            onClick={() => void run(direction)}
          >
            {direction === 'newer' ? 'Newer' : 'Older'}
          </button>
        ))}
      </span>
      <FormError error={error} />
    </>
  );
}

function Details({ record, list }: { record: DecisionRecord; list: string }) {
  const { agent_name, tool_name, role, reason, violations, project_id } = record;
  return (
    <>
      <p class="drawer-lead">
        <b>
          <Inert text={tool_name} />
        </b>{' '}
        requested by{' '}
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
      <PolicySection record={record} />
      <Section title="Arguments">
        <Json value={record.arguments} />
      </Section>
      <Section title="Hint">
        <Json value={record.hint} />
      </Section>
      <Section title="Record">
        <Fields record={record} list={list} />
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

/** An object as a tree. If the client truncated the arguments, their beginning is shown. */
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

type TextField = {
  [Name in keyof DecisionRecord]: DecisionRecord[Name] extends string ? Name : never;
}[keyof DecisionRecord];

const FILTERED: [label: string, field: TextField, filter: FilterName | undefined][] = [
  ['Occurred', 'occurred_at', undefined],
  ['Received', 'received_at', undefined],
  ['Agent', 'agent_name', 'agent'],
  ['Tool', 'tool_name', 'tool'],
  ['Role', 'role', 'role'],
  ['User', 'user_id', 'user_id'],
  ['Session', 'session_id', 'session_id'],
  ['Error type', 'error_type', undefined],
  ['Event ID', 'event_id', undefined],
  ['Version ID', 'agent_version_id', undefined],
  ['Project ID', 'project_id', undefined],
];

/** A session is shown in full: without the other filters, from its first record to its last. */
function onlyThis(filter: FilterName, value: string, list: string): string {
  if (filter !== 'session_id') return hrefWith({ [filter]: value, [`not.${filter}`]: undefined }, list);
  return `${list}?${new URLSearchParams({ window: '90d', session_id: value, view: 'timeline' })}`;
}

function Fields({ record, list }: { record: DecisionRecord; list: string }) {
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
                  href={onlyThis(filter, value, list)}
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
