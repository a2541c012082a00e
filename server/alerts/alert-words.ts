import type { Alert } from './alert.ts';
import { HOUR_MS } from '../durations.ts';

/** The facts of an alert. The dashboard uses the same words. */
type AlertFacts = Omit<Alert, 'id' | 'fired_at' | 'state' | 'renewed_at'>;

/** The page of the dashboard with exactly these decisions. For a silence, those of the hour before it. */
export function linkOf(alert: AlertFacts, dashboardUrl: string): string {
  const { rule, project_id, agent_name, tool_name, range_from, range_to } = alert;
  const lastMs = Date.parse(range_from);
  const range =
    rule === 'silence'
      ? { from: new Date(lastMs - HOUR_MS).toISOString(), to: new Date(lastMs + 1000).toISOString() }
      : { from: range_from, to: range_to };
  const query = new URLSearchParams({
    ...range,
    agent: agent_name,
    ...(tool_name === '' ? {} : { tool: tool_name }),
    ...(rule === 'denials' ? { outcome: 'deny' } : {}),
  });
  return `${dashboardUrl}/projects/${encodeURIComponent(project_id)}/decisions?${query.toString()}`;
}

/** A user-defined name as text: nothing in it may break the line or change its direction. */
export function inLine(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}');
}

/** An alert in one line. */
export function sentenceOf(alert: AlertFacts): string {
  const { rule, total, denied, usual_total, usual_denied } = alert;
  const [agent, tool] = [alert.agent_name, alert.tool_name].map(inLine);
  const minutes = Math.round((Date.parse(alert.range_to) - Date.parse(alert.range_from)) / 60_000);
  const span = minutes === 1 ? '1 minute' : `${minutes} minutes`;
  if (rule === 'silence')
    return `${agent} has made no call for ${span}, in which it usually makes ${usual_total} or more`;
  if (rule === 'new_names')
    return tool === ''
      ? `The agent ${agent} called for the first time`
      : `${agent} called the tool ${tool} for the first time`;
  const of = tool === '' ? agent : `${agent} with ${tool}`;
  return `${denied} of ${total} calls of ${of} were denied in ${span}, usually ${percentOf(usual_denied, usual_total)}`;
}

function percentOf(part: number, whole: number): string {
  const percent = (100 * part) / Math.max(1, whole);
  if (percent > 99 && part < whole) return '>99 %';
  return `${percent >= 10 || percent === 0 ? percent.toFixed(0) : percent.toPrecision(2)} %`;
}
