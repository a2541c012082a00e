import { useRef } from 'preact/hooks';
import { hasRole } from '../../../../rights.ts';
import { call, versionOf } from '../../api/call.ts';
import type { AgentVersion, VersionSummary } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { usePlace } from '../../app/location.ts';
import { placeWith, projectPath } from '../../app/route.ts';
import { useRole } from '../../app/role.ts';
import { Inert } from '../../ui/inert.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { ErrorState, Loading } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AgentHealth, WINDOW } from './agent-health.tsx';
import { DefinitionTab } from './definition-tab.tsx';
import { FleetTab } from './fleet-tab.tsx';
import { PolicyTab } from './policy-tab.tsx';
import { UnregisteredAgent } from './unregistered-agent.tsx';
import { VersionsTab } from './versions-tab.tsx';

const LABELS = { policy: 'Policy', versions: 'Versions', fleet: 'Fleet', definition: 'Definition' };
const TABS = { policy: PolicyTab, versions: VersionsTab, fleet: FleetTab, definition: DefinitionTab };

export type AgentTabProps = {
  projectId: string;
  agentName: string;
  /** Newest first. */
  versions: VersionSummary[];
  latest: AgentVersion;
  mayEdit: boolean;
  onSaved: () => void;
};

export function AgentPage({ projectId, agentName }: { projectId: string; agentName: string }) {
  const given = usePlace().query.get('tab') ?? '';
  const tab = Object.hasOwn(TABS, given) ? (given as keyof typeof TABS) : 'policy';
  const Tab = TABS[tab];
  const versions = useAnswer(
    call('GET /v1/projects/{id}/agents/{name}/versions', { id: projectId, name: agentName }),
  );
  const newest = versions.data?.items[0]?.version;
  const latest = useAnswer(newest === undefined ? undefined : versionOf(projectId, agentName, newest));
  const own = useRole(projectId);
  const { role, isLoading: isRoleLoading } = own;
  const mayEdit = role !== undefined && hasRole(role, 'editor');
  // Keep the previous version while a newer one loads. An unmounted tab would lose unsaved text.
  const kept = useRef<AgentVersion | undefined>(undefined);
  kept.current = latest.data ?? kept.current;
  const shown = kept.current;
  const error = versions.error ?? latest.error ?? own.error;
  const retry = () => {
    versions.reload();
    latest.reload();
    own.reload();
  };
  // The tab's data is read first: it takes milliseconds, and the health of an agent up to a second.
  const isReady = (shown !== undefined && !isRoleLoading) || error !== undefined;
  const isUnregistered = versions.error?.code === 'agent_unknown';
  const decisions = placeWith(projectPath(projectId, 'decisions'), { window: WINDOW, agent: agentName });
  return (
    <>
      <PageHead title={<Inert text={agentName} />}>
        <a class="button" href={decisions}>
          View decisions
        </a>
      </PageHead>
      {!isUnregistered && (
        <AgentHealth projectId={projectId} agentName={agentName} versions={versions} isReady={isReady} />
      )}
      {isUnregistered ? (
        <UnregisteredAgent projectId={projectId} agentName={agentName} />
      ) : (
        <Tabs label="Agent" names={LABELS} current={tab} first="policy" />
      )}
      {error !== undefined && !isUnregistered && <ErrorState error={error} retry={retry} />}
      {error === undefined && (shown === undefined || isRoleLoading) && <Loading lines={12} />}
      {/* An editor that became writable later would lose what was typed before. */}
      {versions.data !== undefined && shown !== undefined && !isRoleLoading && (
        <Tab
          projectId={projectId}
          agentName={agentName}
          versions={versions.data.items}
          latest={shown}
          mayEdit={mayEdit}
          onSaved={versions.reload}
        />
      )}
    </>
  );
}
