import type { TestService } from './service.ts';

export type Samples = {
  /** The value of one series, 0 when it is not there. */
  value(series: string): number;
  /** Every series of that name with all of its labels. */
  named(name: string): string[];
  text: string;
};

/** What GET /metrics says now. A series is written as Prometheus does: name{label="value"}. */
export async function readMetrics({ url }: Pick<TestService, 'url'>): Promise<Samples> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const at = line.lastIndexOf(' ');
    if (!line.startsWith('#') && at > 0) values.set(line.slice(0, at), Number(line.slice(at + 1)));
  }
  return {
    value: (series) => values.get(series) ?? 0,
    named: (name) => [...values.keys()].filter((series) => series === name || series.startsWith(`${name}{`)),
    text,
  };
}

export function ingestResult(result: string): string {
  return `gate_ingest_decisions_total{result="${result}"}`;
}

/** The name of each metric with its declared type. */
export function metricTypes({ text }: Samples): Map<string, string> {
  const lines = text.matchAll(/^# TYPE (\S+) (\S+)$/gm);
  return new Map([...lines].map(([, name = '', type = '']) => [name, type]));
}
