import { useMemo, useState } from 'preact/hooks';

import { versionOf } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { hrefWith, navigate, usePlace } from '../../app/location.ts';
import { CodeEditor, DiffView } from '../../editor/code-editor.tsx';
import { formatDate, zoneName } from '../../text/format.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Inert } from '../../ui/inert.tsx';
import { ErrorState, Loading } from '../../ui/states.tsx';
import type { AgentTabProps } from './agent-page.tsx';
import { draftKey, drafts } from './drafts.ts';

const PARTS = { policy_yaml: 'Policy', agent_yaml: 'Definition', system_md: 'System prompt' } as const;
type Part = keyof typeof PARTS;

/** All versions, and the difference of any two. */
export function VersionsTab({ projectId, agentName, versions, latest, mayEdit }: AgentTabProps) {
  const { query } = usePlace();
  const known = new Set(versions.map(({ version }) => version));
  const numberOf = (name: string, fallback: number) => {
    const given = Number(query.get(name));
    return known.has(given) ? given : fallback;
  };
  const newest = versions[0]?.version ?? 1;
  const to = numberOf('to', newest);
  const from = numberOf('from', Math.max(1, to - 1));
  const part = Object.hasOwn(PARTS, query.get('part') ?? '') ? (query.get('part') as Part) : 'policy_yaml';
  const before = useAnswer(versionOf(projectId, agentName, from));
  const after = useAnswer(versionOf(projectId, agentName, to));
  const error = before.error ?? after.error;
  const retry = () => {
    before.reload();
    after.reload();
  };
  const [isAsking, setIsAsking] = useState(false);
  const key = draftKey(projectId, agentName, 'policy');
  const hasDraft = () => (drafts.get(key) ?? latest.policy_yaml) !== latest.policy_yaml;
  const restore = () => {
    if (after.data === undefined) return;
    drafts.set(key, after.data.policy_yaml);
    navigate(hrefWith({ tab: undefined, from: undefined, to: undefined, part: undefined, line: undefined }));
  };
  return (
    <div class="versions-tab">
      <ol class="version-list" aria-label="Versions">
        {versions.map(({ version, created_at, created_by, bundle, note }) => (
          <li key={version}>
            <a
              href={hrefWith({ to: String(version), from: undefined, line: undefined })}
              aria-current={version === to ? 'true' : undefined}
            >
              <b>v{version}</b>{' '}
              <time dateTime={created_at}>
                {formatDate(created_at)} {zoneName(created_at)}
              </time>
              <span class="muted version-by">
                <Inert text={created_by} />
                {bundle === 'absent' && ' · no bundle'}
              </span>
              {note !== undefined && (
                <span class="version-note">
                  <Inert text={note} />
                </span>
              )}
            </a>
          </li>
        ))}
      </ol>
      <section class="version-diff" aria-label="Difference">
        <div class="policy-bar">
          <label>
            Compare with{' '}
            <select
              value={String(from)}
              onChange={({ currentTarget }) =>
                navigate(hrefWith({ from: currentTarget.value, to: String(to), line: undefined }))
              }
            >
              {versions.map(({ version }) => (
                <option key={version} value={String(version)}>
                  v{version}
                </option>
              ))}
            </select>
          </label>
          <nav class="segments" aria-label="Part">
            {Object.entries(PARTS).map(([name, label]) => (
              <a
                key={name}
                href={hrefWith({ part: name, line: undefined })}
                aria-current={name === part ? 'true' : undefined}
              >
                {label}
              </a>
            ))}
          </nav>
          {mayEdit && to !== newest && (
            <button type="button" onClick={() => (hasDraft() ? setIsAsking(true) : restore())}>
              Edit a copy of v{to}
            </button>
          )}
        </div>
        {after.data?.note !== undefined && (
          <p class="muted">
            <Inert text={after.data.note} as="block" />
          </p>
        )}
        {error !== undefined && <ErrorState error={error} retry={retry} />}
        {(before.isLoading || after.isLoading) && <Loading lines={10} />}
        {before.data !== undefined && after.data !== undefined && (
          <>
            {from !== to && before.data[part] === after.data[part] && (
              <p class="muted">
                Identical in v{from} and v{to}.
              </p>
            )}
            <Difference
              key={`${from} ${to} ${part}`}
              before={before.data[part]}
              after={after.data[part]}
              line={Number(query.get('line'))}
              label={from === to ? `${PARTS[part]}, v${to}` : `${PARTS[part]}: v${from} to v${to}`}
            />
          </>
        )}
      </section>
      {isAsking && (
        <Confirm
          title="Replace the draft?"
          text={`The policy has unsaved changes. The copy of v${to} replaces them.`}
          action="Replace draft"
          work={() => Promise.resolve()}
          onClose={() => setIsAsking(false)}
          onDone={restore}
        />
      )}
    </div>
  );
}

type DifferenceProps = { before: string; after: string; label: string; line: number };

/** Shows the text itself if nothing differs, with the line that a link names. */
function Difference({ before, after, label, line }: DifferenceProps) {
  const goTo = useMemo(() => (line >= 1 ? { line } : undefined), [line]);
  if (before === after) return <CodeEditor text={after} label={label} isReadOnly goTo={goTo} />;
  return <DiffView before={before} after={after} label={label} />;
}
