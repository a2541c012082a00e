import { useId, useMemo, useState } from 'preact/hooks';
import { navigate, usePeriod } from '../app/location.ts';
import { rangeOf } from '../api/relative-period.ts';
import { isFinished } from '../api/series.ts';
import { endsNow, type Period } from '../app/period.ts';
import { useZone } from '../app/zone.ts';
import { periodHref } from '../ui/period-picker.tsx';
import { Table } from '../ui/table.tsx';
import { shownZone, zoneName } from '../text/format.ts';
import { bucketLabel, bucketSpan, type Frame, tickLabels } from './bucket-label.ts';
import { barsPath, linePath } from './paths.ts';
import { labelledBuckets, ticksOf } from './scale.ts';
import { type Selection, useSelection } from './use-selection.ts';

/** Values by bucket; undefined where there is none. */
export type Series = {
  label: string;
  /** The name of a colour: `tone-…`. */
  tone: string;
  values: (number | undefined)[];
  /** Opened by a click on the legend. */
  href?: string | undefined;
};

type BucketChartProps = {
  label: string;
  /** The starts of the buckets, and the period (RFC 3339). */
  starts: string[];
  bucketSeconds: number;
  from: string;
  to: string;
  /** Stacked from the bottom up, or one line. */
  series: Series[];
  kind?: 'bars' | 'line';
  /** The previous period, as a line. */
  before?: Series | undefined;
  format: (value: number) => string;
  /** Short, for the axis; `format` by default. */
  formatTick?: (value: number) => string;
  /** The smallest step of the axis. */
  stepMin?: number;
  size?: 'tall' | 'low';
  /** Opened by a click on a bucket. */
  hrefOf: (period: Period) => string;
};

/**
 * A chart over time. The bucket under the pointer, or the one selected with the arrow keys, is a link to its records. A drag, or Shift and
 * the arrow keys with Enter, zooms.
 */
export function BucketChart(props: BucketChartProps) {
  const { label, starts, bucketSeconds, from, to, series, before, format, size = 'tall', hrefOf } = props;
  useZone();
  const frame = { from, to, endsNow: endsNow(usePeriod()), bucketSeconds };
  const help = useId();
  const startsMs = useMemo(() => starts.map((start) => Date.parse(start)), [starts]);
  const periodOf = ([first, last]: Selection) =>
    rangeOf(bucketSpan(startsMs[first] ?? 0, frame)[0], bucketSpan(startsMs[last] ?? 0, frame)[1]);
  const { index, isActive, selection, handlers } = useSelection(starts.length, (selected) =>
    navigate(periodHref(periodOf(selected))),
  );
  const shown = isActive ? index : undefined;
  const every = [...series.toReversed(), ...(before === undefined ? [] : [before])];
  const name = (at: number) => bucketLabel(starts[at] ?? '', frame);
  const words = every.map(({ label: of, values }) => `${of} ${textOf(values[index], format)}`).join(', ');
  return (
    <div class={`chart chart-${size}`}>
      <p class="readout" aria-live="polite">
        {every.map((one) => (
          <Legend key={one.label} series={one} index={shown} format={format} />
        ))}
        <span class="readout-time">{shown === undefined ? zoneName(from, to) : name(shown)}</span>
      </p>
      <div class="chart-frame">
        <Drawing {...props} />
        <div
          class="chart-plot"
          {...handlers}
          onClick={({ target, currentTarget }) => {
            // A finger may touch the screen before the link is there.
            if (target === currentTarget) navigate(hrefOf(periodOf([index, index])));
          }}
        >
          <a
            class={isActive ? 'chart-bucket is-active' : 'chart-bucket'}
            href={hrefOf(periodOf([index, index]))}
            draggable={false}
            aria-label={`${label}: ${name(index)}: ${words}`}
            aria-describedby={help}
            style={spanStyle([index, index], starts.length)}
          />
          {selection !== undefined && (
            <span class="chart-selection" style={spanStyle(selection, starts.length)} />
          )}
        </div>
      </div>
      <span id={help} class="visually-hidden">
        Left and right arrow move. With Shift they select a period; Enter zooms in to it.
      </span>
      {size === 'tall' && <DataTable {...props} frame={frame} />}
    </div>
  );
}

function spanStyle([first, last]: Selection, count: number) {
  return { left: `${(first / count) * 100}%`, width: `${((last - first + 1) / count) * 100}%` };
}

function textOf(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? '–' : format(value);
}

type LegendProps = { series: Series; index: number | undefined; format: (value: number) => string };

function Legend({ series: { label, tone, values, href }, index, format }: LegendProps) {
  const value = index === undefined ? undefined : <b>{textOf(values[index], format)}</b>;
  return (
    <span class={`legend tone-${tone}`}>
      {href === undefined ? label : <a href={href}>{label}</a>}
      {value}
    </span>
  );
}

/** Everything that does not change with the pointer. */
function Drawing({
  starts,
  bucketSeconds,
  to,
  series,
  kind = 'bars',
  before,
  format,
  formatTick = format,
  stepMin = 1,
}: BucketChartProps) {
  const zone = shownZone();
  return useMemo(() => {
    const count = starts.length;
    const sums = starts.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
    const ticks = ticksOf(
      Math.max(0, ...sums, ...(before?.values ?? []).map((value) => value ?? 0)),
      stepMin,
    );
    const top = ticks.at(-1) ?? 1;
    const startsMs = starts.map((start) => Date.parse(start));
    const below = starts.map(() => 0);
    const labelled = labelledBuckets(startsMs, bucketSeconds);
    const labels = tickLabels(
      labelled.map((at) => startsMs[at] ?? 0),
      bucketSeconds,
    );
    const finished = starts.filter((start) => isFinished(start, bucketSeconds, to)).length;
    return (
      <>
        <div class="chart-y" aria-hidden="true">
          {ticks.map((tick) => (
            <span key={tick} style={{ bottom: `${(tick / top) * 100}%` }}>
              {/* 5% below 10%, not 5.0%. */}
              {formatTick(tick).replace('.0%', '%')}
            </span>
          ))}
        </div>
        <svg class="chart-svg" viewBox={`0 0 ${count} 1`} preserveAspectRatio="none" aria-hidden="true">
          {ticks.map((tick) => (
            <path key={tick} class="chart-grid" d={`M0 ${1 - tick / top}H${count}`} />
          ))}
          {series.map(({ label, tone, values }) => (
            <path
              key={label}
              class={`chart-${kind} tone-${tone}`}
              d={kind === 'bars' ? barsPath(values, { below, top }) : linePath(values, top)}
            />
          ))}
          {before !== undefined && (
            <path class="chart-line tone-before" d={linePath(before.values.slice(0, finished), top)} />
          )}
        </svg>
        <div class="chart-x" aria-hidden="true">
          {labelled.map((at, index) => (
            // Shifted by the same share of its own width, so that no label leaves the chart.
            <span
              key={at}
              style={{ left: `${(at / count) * 100}%`, transform: `translateX(${(-at / count) * 100}%)` }}
            >
              {labels[index]}
            </span>
          ))}
        </div>
      </>
    );
  }, [starts, series, before, zone]);
}

function DataTable({ label, starts, frame, series, before, format }: BucketChartProps & { frame: Frame }) {
  const [isOpen, setIsOpen] = useState(false);
  const columns = before === undefined ? series : [...series, before];
  return (
    <details class="data-table" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>Show as table</summary>
      {isOpen && (
        <Table
          label={`${label} as a table`}
          columns={[`Time (${zoneName(frame.from, frame.to)})`, ...columns.map((column) => column.label)]}
        >
          {starts
            .map((start, at) => (
              <tr key={start}>
                <th scope="row">{bucketLabel(start, frame)}</th>
                {columns.map(({ label: of, values }) => (
                  <td key={of}>{textOf(values[at], format)}</td>
                ))}
              </tr>
            ))
            .toReversed()}
        </Table>
      )}
    </details>
  );
}
