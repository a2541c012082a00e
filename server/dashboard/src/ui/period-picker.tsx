import { useState } from 'preact/hooks';
import { hrefWith, navigate, usePeriod } from '../app/location.ts';
import { endOfMinute, LAST_MS, LASTS, rangeOf } from '../api/relative-period.ts';
import {
  LAST_WORDS,
  type Period,
  periodChanges,
  periodWords,
  WINDOW_HOURS,
  WINDOW_WORDS,
  WINDOWS,
} from '../app/period.ts';
import { useZone } from '../app/zone.ts';
import { type Zone, zoneName } from '../text/format.ts';
import { Icon } from './icon.tsx';
import { Menu } from './menu.tsx';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../durations.ts';

const DAYS_MAX = 90;

export function periodHref(period: Period): string {
  return hrefWith(periodChanges(period));
}

/** The period of a page: a time up to now, or a range. The address bar holds it, always in UTC. */
export function PeriodPicker() {
  const period = usePeriod();
  useZone();
  const window = 'window' in period ? period.window : undefined;
  return (
    <div class="period">
      <nav class="segments" aria-label="Period">
        {WINDOWS.map((name) => (
          <a
            key={name}
            href={periodHref({ window: name })}
            aria-current={name === window ? 'true' : undefined}
            title={`Last ${WINDOW_WORDS[name]}`}
          >
            {name}
          </a>
        ))}
      </nav>
      <Menu
        kind={window === undefined ? 'menu-end menu-on' : 'menu-end'}
        label="Choose a period"
        summary={
          <>
            <Icon name="calendar" />
            {summaryOf(period)}
          </>
        }
      >
        {(close) => <PeriodForm period={period} close={close} />}
      </Menu>
    </div>
  );
}

function summaryOf(period: Period): string {
  if ('window' in period) return 'Custom';
  return 'last' in period
    ? `Last ${LAST_WORDS[period.last]}`
    : `${periodWords(period)} ${zoneName(period.from, period.to)}`;
}

function PeriodForm({ period, close }: { period: Period; close: () => void }) {
  const { zone, choose } = useZone();
  const [range, setRange] = useState(() => edgesOf(period));
  const [error, setError] = useState<string | undefined>(undefined);
  const show = (chosen: Period) => {
    close();
    navigate(periodHref(chosen));
  };
  const apply = () => {
    const { fromMs, toMs } = range;
    if (!(fromMs < toMs)) setError('From must be earlier than To.');
    else if (toMs - fromMs > DAYS_MAX * DAY_MS) setError(`At most ${DAYS_MAX} days.`);
    else show(rangeOf(fromMs, toMs));
  };
  const edge = (label: string, name: 'fromMs' | 'toMs') => (
    <label>
      {label}
      <input
        type="datetime-local"
        required
        value={fieldText(range[name], zone)}
        onInput={({ currentTarget }) => setRange({ ...range, [name]: fieldMs(currentTarget.value, zone) })}
      />
    </label>
  );
  return (
    <form
      class="period-form"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <div class="period-relative" role="group" aria-label="Last">
        <span aria-hidden="true">Last</span>
        {LASTS.map((last) => (
          <button key={last} type="button" class="small" onClick={() => show({ last })}>
            {LAST_WORDS[last]}
          </button>
        ))}
      </div>
      {edge('From', 'fromMs')}
      {edge('To', 'toMs')}
      {error !== undefined && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
      <div class="period-end">
        <label>
          <span class="visually-hidden">Time zone</span>
          <select value={zone} onChange={({ currentTarget }) => choose(currentTarget.value as Zone)}>
            <option value="UTC">UTC</option>
            <option value="local">Local time</option>
          </select>
        </label>
        <button type="submit" class="primary">
          Apply
        </button>
      </div>
    </form>
  );
}

function edgesOf(period: Period): { fromMs: number; toMs: number } {
  if ('from' in period) return { fromMs: Date.parse(period.from), toMs: Date.parse(period.to) };
  const toMs = endOfMinute();
  const lengthMs = 'last' in period ? LAST_MS[period.last] : WINDOW_HOURS[period.window] * HOUR_MS;
  return { fromMs: toMs - lengthMs, toMs };
}

/** The value of a datetime-local field. */
function fieldText(ms: number, zone: Zone): string {
  if (Number.isNaN(ms)) return '';
  const offsetMs = zone === 'UTC' ? 0 : new Date(ms).getTimezoneOffset() * MINUTE_MS;
  return new Date(ms - offsetMs).toISOString().slice(0, 16);
}

function fieldMs(text: string, zone: Zone): number {
  return Date.parse(zone === 'UTC' ? `${text}Z` : text);
}
