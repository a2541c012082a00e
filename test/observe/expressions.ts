import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const OBSERVABILITY = new URL('../../server/observability/', import.meta.url);

type Panel = { id: number; title: string; targets?: { expr: string }[] };
type Dashboard = { uid: string; title: string; panels: Panel[] };
type RuleFile = { groups: { rules: { alert: string; expr: string }[] }[] };

/** Where an expression stands, and what it is. */
export type Expression = { place: string; expr: string };

export function dashboards(): Dashboard[] {
  const folder = new URL('grafana/dashboards/', OBSERVABILITY);
  return readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Dashboard,
  );
}

export function panelExpressions(): Expression[] {
  return dashboards().flatMap(({ title, panels }) =>
    panels.flatMap((panel) =>
      (panel.targets ?? []).map(({ expr }) => ({ place: `${title}: ${panel.title}`, expr })),
    ),
  );
}

export function alertExpressions(): Expression[] {
  const { groups } = parse(observabilityFile('prometheus/alerts.yml')) as RuleFile;
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ place: alert, expr })));
}

/** The text of a file under server/observability. */
export function observabilityFile(path: string): string {
  return readFileSync(new URL(path, OBSERVABILITY), 'utf8');
}

/** The metrics an expression names; those of a histogram without its suffix. */
export function metricsOf(expr: string): string[] {
  return [...expr.matchAll(/\b((?:gate|process|nodejs)_\w+?)(?:_bucket|_sum|_count)?\b(?!\s*[=!]~?")/g)].map(
    ([, name = '']) => name,
  );
}
