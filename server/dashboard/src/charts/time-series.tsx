import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { Bucket, Timeseries } from '../api/types.ts';
import { formatCompact, formatCount, formatShare, OUTCOME_LABELS } from '../text/format.ts';
import { Table } from '../ui/table.tsx';
import { bucketLabel, tickLabel } from './bucket-label.ts';

const HEIGHT = 220;
/** From the bottom up. Bars on the base line are the easiest to compare. */
const ORDER = ['deny', 'needs_approval', 'allow'] as const;

/** Outcomes over time as stacked bars. Arrow keys move between buckets; the numbers are shown as text. */
export function TimeSeriesChart({ series }: { series: Timeseries }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const [index, setIndex] = useState<number | undefined>(undefined);
  const { buckets } = series;
  const latest = useRef(buckets);
  latest.current = buckets;

  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(
        optionsFor(element, series.bucket_seconds, setIndex),
        stackedData(latest.current),
        element,
      );
    };
    draw();
    const resized = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width > 0 && plot.current?.width !== width) plot.current?.setSize({ width, height: HEIGHT });
    });
    resized.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', draw);
    addEventListener('gatehouse:theme', draw);
    return () => {
      resized.disconnect();
      dark.removeEventListener('change', draw);
      removeEventListener('gatehouse:theme', draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [series.bucket_seconds]);

  useEffect(() => plot.current?.setData(stackedData(buckets)), [buckets]);

  const move = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.min(buckets.length - 1, Math.max(0, (index ?? buckets.length) + step));
    const bucket = buckets[next];
    const chart = plot.current;
    if (bucket === undefined || chart === undefined) return;
    chart.setCursor({ left: chart.valToPos(Date.parse(bucket.start) / 1000, 'x'), top: 10 });
    setIndex(next);
  };

  return (
    <div class="time-series">
      <Readout series={series} bucket={index === undefined ? undefined : buckets[index]} />
      <div
        ref={place}
        class="time-series-plot"
        role="img"
        tabIndex={0}
        aria-label="Decisions over time by outcome. Use the left and right arrow keys to move between bars."
        onKeyDown={move}
        onBlur={() => setIndex(undefined)}
      />
      <DataTable series={series} />
    </div>
  );
}

function Readout({ series, bucket }: { series: Timeseries; bucket: Bucket | undefined }) {
  return (
    <p class="readout" aria-live="polite">
      {ORDER.toReversed().map((outcome) => (
        <span key={outcome} class={`legend legend-${outcome}`}>
          {OUTCOME_LABELS[outcome]}
          {bucket !== undefined && (
            <b>
              {formatCount(bucket[outcome])}
              {outcome === 'deny' && ` (${formatShare(bucket.deny, bucket.total)})`}
            </b>
          )}
        </span>
      ))}
      <span class="readout-time">
        {bucket === undefined ? 'UTC' : bucketLabel(bucket.start, series.bucket_seconds, series.to)}
      </span>
    </p>
  );
}

function DataTable({ series }: { series: Timeseries }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="data-table" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>Show as table</summary>
      {isOpen && (
        <Table label="Decisions by outcome" columns={['From (UTC)', 'Allow', 'Needs approval', 'Deny']}>
          {series.buckets.toReversed().map(({ start, allow, needs_approval, deny }) => (
            <tr key={start}>
              <th scope="row">{bucketLabel(start, series.bucket_seconds, series.to)}</th>
              <td>{formatCount(allow)}</td>
              <td>{formatCount(needs_approval)}</td>
              <td>{formatCount(deny)}</td>
            </tr>
          ))}
        </Table>
      )}
    </details>
  );
}

/** Bars are drawn over each other, the tallest first. */
function stackedData(buckets: Bucket[]): uPlot.AlignedData {
  return [
    buckets.map(({ start }) => Date.parse(start) / 1000),
    buckets.map(({ deny, needs_approval, allow }) => deny + needs_approval + allow),
    buckets.map(({ deny, needs_approval }) => deny + needs_approval),
    buckets.map(({ deny }) => deny),
  ];
}

function optionsFor(
  element: HTMLElement,
  bucketSeconds: number,
  onIndex: (index: number | undefined) => void,
): uPlot.Options {
  const colors = getComputedStyle(element);
  // The variables contain light-dark(), which only an applied colour resolves.
  const color = (name: string) => resolvedColor(element, colors.getPropertyValue(name));
  const bars = uPlot.paths.bars?.({ size: [0.82, 64], align: 1, radius: 0.08 });
  const bar = (name: string): uPlot.Series => ({
    fill: color(name),
    width: 0,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
  });
  const axis = {
    stroke: color('--text-muted'),
    font: `11px ${colors.fontFamily}`,
    ticks: { show: false },
    grid: { stroke: color('--border-soft'), width: 1 },
  };
  return {
    width: element.clientWidth || 600,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: (_plot, min, max) => [min, max + bucketSeconds] },
      y: { range: (_plot, _min, max) => [0, Math.max(max * 1.08, 4)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 26,
        values: (_plot, starts) => starts.map((start) => tickLabel(start, bucketSeconds)),
      },
      { ...axis, size: 52, values: (_plot, values) => values.map((value) => formatAxis(value)) },
    ],
    series: [{}, bar('--fill-allow'), bar('--fill-needs_approval'), bar('--fill-deny')],
    hooks: { setCursor: [({ cursor }) => onIndex(cursor.idx ?? undefined)] },
  };
}

function formatAxis(value: number): string {
  return Number.isInteger(value) ? formatCompact(value) : '';
}

function resolvedColor(element: HTMLElement, value: string): string {
  const probe = document.createElement('span');
  probe.style.color = value;
  element.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}
