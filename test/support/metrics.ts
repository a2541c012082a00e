import type { RunningService } from './service.ts';

export type Samples = {
  /** The value of one series, 0 if nothing was counted under its labels yet. Throws if no metric has its name. */
  value(series: string): number;
  /** Every series of that name with all of its labels. */
  named(name: string): string[];
  text: string;
};

/** The current content of GET /metrics. A series is written in Prometheus format: name{label="value"}. */
export async function readMetrics({ url }: Pick<RunningService, 'url'>): Promise<Samples> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const at = line.lastIndexOf(' ');
    if (!line.startsWith('#') && at > 0) values.set(line.slice(0, at), Number(line.slice(at + 1)));
  }
  return {
    value: (series) => {
      const value = values.get(series);
      if (value === undefined && !isKnown(series, text)) throw new Error(`There is no metric ${series}`);
      return value ?? 0;
    },
    named: (name) => [...values.keys()].filter((series) => series === name || series.startsWith(`${name}{`)),
    text,
  };
}

/** A histogram is declared under its bare name. */
function isKnown(series: string, text: string): boolean {
  const name = series.split('{', 1)[0] ?? '';
  const names = [name, name.replace(/_(?:bucket|count|sum)$/, '')];
  return names.some((declared) => text.includes(`# TYPE ${declared} `));
}

export function ingestResult(result: string): string {
  return `gate_ingest_decisions_total{result="${result}"}`;
}

/** The name of each metric with its declared type. */
export function metricTypes({ text }: Samples): Map<string, string> {
  const lines = text.matchAll(/^# TYPE (\S+) (\S+)$/gm);
  return new Map([...lines].map(([, name = '', type = '']) => [name, type]));
}
