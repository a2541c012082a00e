const WIDTH = 120;
const HEIGHT = 28;

/** A line without axes next to a number. */
export function Sparkline({ values, tone }: { values: number[]; tone: string }) {
  const max = Math.max(...values, 0);
  if (values.length < 2 || max === 0) return null;
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * WIDTH;
    return `${x.toFixed(1)},${(HEIGHT - 2 - (value / max) * (HEIGHT - 4)).toFixed(1)}`;
  });
  return (
    <svg
      class={`sparkline tone-${tone}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polygon points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`} />
      <polyline points={points.join(' ')} />
    </svg>
  );
}
