import { call } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { serviceTime } from '../../api/service-clock.ts';
import { formatTime, zoneName } from '../../text/format.ts';
import { FormError } from '../../ui/form-error.tsx';
import { useSay } from '../../ui/toast.tsx';
import { useAction } from '../../ui/use-action.ts';
import type { SettingsProps } from './alerts-page.tsx';
import { HOUR_MS } from '../../../../durations.ts';

/** Alerts that fire during a mute are in the history, but nobody is notified. */
export function Mute({ projectId, settings: { muted_until }, current, onChanged, mayChange }: SettingsProps) {
  const say = useSay();
  const { run, isRunning, error } = useAction(async (hours: number) => {
    const until = hours === 0 ? null : new Date(serviceTime() + hours * HOUR_MS).toISOString();
    const body = { muted_until: until };
    // A mute that has just been set may be longer.
    if (until !== null && (await current()).muted_until !== null)
      say('The alerts were muted in the meantime.');
    else await request(call('PUT /v1/projects/{id}/alerts/settings', { id: projectId }), { body });
    onChanged();
  });
  return (
    <>
      {muted_until !== null && (
        <span class="tag tag-warn">
          Muted until {formatTime(muted_until)} {zoneName(muted_until)}
        </span>
      )}
      {mayChange && muted_until !== null && (
        <button type="button" aria-busy={isRunning} onClick={() => void run(0)}>
          Unmute
        </button>
      )}
      {mayChange &&
        muted_until === null &&
        [1, 24].map((hours) => (
          <button key={hours} type="button" aria-busy={isRunning} onClick={() => void run(hours)}>
            Mute for {hours === 1 ? '1 hour' : `${hours} hours`}
          </button>
        ))}
      <FormError error={error} />
    </>
  );
}
