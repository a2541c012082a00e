import { useEffect, useState } from 'preact/hooks';
import { call, versionOf } from '../../api/call.ts';
import type { PolicyLine } from '../../api/policy-line.ts';
import type { AgentVersion, DecisionRecord } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { agentPath } from '../../app/route.ts';
import { Inert } from '../../ui/inert.tsx';
import { Notice } from '../../ui/notice.tsx';
import { TryCall } from './try-call.tsx';

type Explained = { line: PolicyLine | undefined; isSame: boolean | undefined };

/**
 * The latest version when the record arrived, and the line by which it gives the same decision. The client may have run another version.
 */
export function PolicySection({ record }: { record: DecisionRecord }) {
  const { project_id, agent_name, agent_version_id } = record;
  const versions = useAnswer(
    agent_version_id === ''
      ? undefined
      : call('GET /v1/projects/{id}/agents/{name}/versions', { id: project_id, name: agent_name }),
  );
  const number = versions.data?.items.find((known) => known.agent_version_id === agent_version_id)?.version;
  const newest = versions.data?.items[0]?.version;
  const version = useAnswer(number === undefined ? undefined : versionOf(project_id, agent_name, number));
  const failed = [versions, version].find(
    ({ error }) => error !== undefined && error.code !== 'agent_unknown',
  );
  const explained = useExplained(version.data, record);
  const line = explained?.line;
  if (agent_version_id === '') return null;
  return (
    <section class="drawer-section">
      <h3>Policy</h3>
      {number !== undefined && (
        <p>
          The latest version when it arrived:{' '}
          <a href={versionHref(record, number, line?.line)}>
            version {number}
            {line !== undefined && `, line ${line.line}`}
          </a>
        </p>
      )}
      {explained !== undefined && <p class="muted">{wordsOf(explained)}</p>}
      {line !== undefined && (
        <pre class="preview">
          <Inert text={line.text} as="block" />
        </pre>
      )}
      {newest !== undefined && <TryCall key={record.event_id} record={record} latest={newest} />}
      {failed?.error !== undefined && (
        <Notice error={failed.error} retry={failed.reload}>
          <b>The policy could not be loaded.</b>
        </Notice>
      )}
      {number === undefined && !versions.isLoading && failed === undefined && (
        <p class="muted">
          {versions.error === undefined
            ? 'This agent has no such version here.'
            : 'The versions of this agent are not available.'}
        </p>
      )}
    </section>
  );
}

function wordsOf({ isSame }: Explained): string {
  if (isSame === true) return 'It decides the recorded call the same.';
  if (isSame === false)
    return 'It decides the recorded call differently. The client ran another version, or decided by itself.';
  return 'The arguments were redacted or truncated, so the call cannot be decided again.';
}

function versionHref({ project_id, agent_name }: DecisionRecord, version: number, line: number | undefined) {
  const shown = { tab: 'versions', from: `${version}`, to: `${version}` };
  const query = new URLSearchParams(line === undefined ? shown : { ...shown, line: `${line}` });
  return `${agentPath(project_id, agent_name)}?${query}`;
}

/** The parser and the engine are loaded only when there is a policy to read. */
function useExplained(version: AgentVersion | undefined, record: DecisionRecord): Explained | undefined {
  const [explained, setExplained] = useState<Explained | undefined>(undefined);
  useEffect(() => {
    if (version === undefined) return undefined;
    let isCurrent = true;
    import('../../api/policy-line.ts').then(
      ({ decidesSame, policyLineOf }) => {
        if (!isCurrent) return;
        const { policy_yaml } = version;
        const isSame = decidesSame(policy_yaml, record);
        // No line of it led to another decision.
        setExplained({ isSame, line: isSame === false ? undefined : policyLineOf(policy_yaml, record) });
      },
      () => undefined,
    );
    return () => void (isCurrent = false);
  }, [version?.agent_version_id, record.event_id]);
  return explained;
}
