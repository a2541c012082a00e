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
  const own = useRole(projectId);
  const mail = useMailedLink();
  const asked = call('GET /v1/projects/{id}/alerts/settings', { id: projectId });
  // A mute ends, and others change the settings as well.
  const { data, error, isLoading, reload } = useAnswer(asked, { refreshMs: REFRESH_MS });
  const isWaiting = isLoading || mail.isLoading || own.isLoading;
  const retry = () => {
    reload();
    own.reload();
  };
  // Waits for all, so that nothing moves when the last arrives.
  if (data === undefined || own.error !== undefined || isWaiting) {
    const fault = error ?? own.error;
    return (
      <>
        <PageHead title="Alerts" />
        {fault === undefined ? <Loading lines={8} /> : <ErrorState error={fault} retry={retry} />}
      </>
    );
  }
  const may = (needed: 'editor' | 'admin') => own.role !== undefined && hasRole(own.role, needed);
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
