import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const OBSERVABILITY = new URL('../../server/observability/', import.meta.url);

type Target = { datasource: { uid: string }; expr?: string; rawSql?: string };
type Panel = { id: number; title: string; targets?: Target[] };
type Variable = { name: string; query: { rawSql: string } };
type Dashboard = { uid: string; title: string; panels: Panel[]; templating: { list: Variable[] } };
type RuleFile = { groups: { rules: { alert: string; expr: string }[] }[] };

/** The location of an expression, and its text. */
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
      (panel.targets ?? []).flatMap(({ expr }) =>
        expr === undefined ? [] : [{ place: `${title}: ${panel.title}`, expr }],
      ),
    ),
  );
}

/** The statements that dashboards send to ClickHouse, by the title of the panel or the name of the variable. */
export function dashboardStatements(): Record<string, string> {
  const statements = dashboards().flatMap(({ panels, templating }) => [
    ...templating.list.map(({ name, query }) => [name, query.rawSql] as const),
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.flatMap(({ rawSql }) => (rawSql === undefined ? [] : [[title, rawSql] as const])),
    ),
  ]);
  return Object.fromEntries(statements);
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
