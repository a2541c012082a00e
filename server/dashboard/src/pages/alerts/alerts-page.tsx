import { hasRole } from '../../../../rights.ts';
import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { AlertSettings } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { useRole } from '../../app/role.ts';
import { PageHead } from '../../ui/page-head.tsx';
import { ErrorState, Loading } from '../../ui/states.tsx';
import { useMailedLink } from '../account/mailed-link.ts';
import { AlertHistory } from './alert-history.tsx';
import { Mute } from './mute.tsx';
import { RuleSwitches } from './rule-switches.tsx';
import { WebhookPanel } from './webhook-panel.tsx';

const REFRESH_MS = 60_000;

/** The properties of each part of the page: the settings, and how to change them. */
export type SettingsProps = {
  projectId: string;
  settings: AlertSettings;
  /** The current settings: others may have changed them. */
  current: () => Promise<AlertSettings>;
  onChanged: () => void;
  mayChange: boolean;
};

/** The three rules of a project, the people to notify, and the alerts so far. */
export function AlertsPage({ projectId }: { projectId: string }) {
  const { role } = useRole(projectId);
  const mail = useMailedLink();
  const asked = call('GET /v1/projects/{id}/alerts/settings', { id: projectId });
  // A mute ends, and others change the settings as well.
  const { data, error, isLoading, reload } = useAnswer(asked, { refreshMs: REFRESH_MS });
  // Waits for both, so that nothing moves when the second arrives.
  if (data === undefined || mail.isLoading)
    return (
      <>
        <PageHead title="Alerts" />
        {error !== undefined && <ErrorState error={error} retry={reload} />}
        {(isLoading || mail.isLoading) && <Loading lines={8} />}
      </>
    );
  const may = (needed: 'editor' | 'admin') => role !== undefined && hasRole(role, needed);
  const shared = { projectId, settings: data, current: () => request(asked), onChanged: reload };
  return (
    <>
      <PageHead title="Alerts">
        <Mute {...shared} mayChange={may('editor')} />
      </PageHead>
      <RuleSwitches {...shared} mayChange={may('editor')} isPrinted={mail.isPrinted} />
      <WebhookPanel {...shared} mayChange={may('admin')} />
      <AlertHistory projectId={projectId} refreshMs={REFRESH_MS} />
    </>
  );
}
