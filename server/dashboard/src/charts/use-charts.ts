import { useEffect, useState } from 'preact/hooks';

type Charts = typeof import('./charts.ts');

let loaded: Charts | undefined;

/** The charts, whose code is loaded beside their data; undefined until it is there. */
export function useCharts(): Charts | undefined {
  const [charts, setCharts] = useState(loaded);
  useEffect(() => {
    if (loaded !== undefined) return undefined;
    let isGone = false;
    import('./charts.ts').then(
      (code) => {
        loaded = code;
        if (!isGone) setCharts(code);
      },
      // Everything else on the page works without. The next page tries again.
      () => undefined,
    );
    return () => void (isGone = true);
  }, []);
  return charts;
}
