import { sha256Hex } from '../sha256.ts';
import type { Finding, Rule } from './rules.ts';
import { DAY_MS, HOUR_MS } from '../durations.ts';

/** The state of an alert. `failed`: nobody could be notified. */
export const STATES = ['pending', 'sent', 'muted', 'failed'] as const;
export type AlertState = (typeof STATES)[number];

/** A finding that people are notified about. Times are RFC 3339. */
export type Alert = {
  id: string;
  project_id: string;
  fired_at: string;
  rule: Rule;
  agent_name: string;
  /** '' if it concerns all tools of the agent. */
  tool_name: string;
  range_from: string;
  range_to: string;
  total: number;
  denied: number;
  usual_total: number;
  usual_denied: number;
  state: AlertState;
  /** When the delivering service last renewed its claim. */
  renewed_at: string;
};

/** A continuing spike raises another alert after this time. Another tool of the agent may raise one sooner. */
const SAME_SPIKE_MS = 6 * HOUR_MS;
const SAME_AGENT_MS = HOUR_MS;
/** Per rule and project. A sender of events could cause any number. */
export const ALERTS_A_DAY_MAX = 20;
/** How far back new alerts are compared with earlier ones. */
export const KNOWN_MS = DAY_MS;

/**
 * The alert of a finding. Two services that evaluate the same minute create the same one. A new name raises one alert, a silence one per
 * last call.
 */
export function alertFrom(
  { rule, agent_name, tool_name, ...found }: Finding,
  { projectId, isMuted, nowMs }: { projectId: string; isMuted: boolean; nowMs: number },
): Alert {
  const occasion = { denials: nowMs, new_names: 0, silence: found.fromMs }[rule];
  const about = JSON.stringify([projectId, rule, agent_name, tool_name, occasion]);
  return {
    id: uuidFrom(sha256Hex(about)),
    project_id: projectId,
    fired_at: new Date(nowMs).toISOString(),
    rule,
    agent_name,
    tool_name,
    range_from: new Date(found.fromMs).toISOString(),
    range_to: new Date(found.toMs).toISOString(),
    total: found.total,
    denied: found.denied,
    usual_total: found.usual.total,
    usual_denied: found.usual.denied,
    state: isMuted ? 'muted' : 'pending',
    renewed_at: new Date(nowMs).toISOString(),
  };
}

/** A UUID of version 8 (RFC 9562 section 5.8) from the digits of a hash. */
function uuidFrom(hex: string): string {
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}

/** Whether nobody is notified any more. */
export function isTooOld({ fired_at }: Alert, nowMs: number): boolean {
  return nowMs - Date.parse(fired_at) >= HOUR_MS;
}

/** The alerts that are new, given the alerts of the last day and all that have one of their ids. */
export function newsOf(alerts: readonly Alert[], known: readonly Alert[]): Alert[] {
  const ids = new Set(known.map(({ id }) => id));
  const counts = new Map<string, number>();
  const kindOf = ({ project_id, rule }: Alert) => `${project_id}\0${rule}`;
  for (const alert of known) counts.set(kindOf(alert), (counts.get(kindOf(alert)) ?? 0) + 1);
  return alerts.filter((alert) => {
    if (ids.has(alert.id) || known.some((before) => isSameSpike(before, alert))) return false;
    const count = (counts.get(kindOf(alert)) ?? 0) + 1;
    counts.set(kindOf(alert), count);
    return count <= ALERTS_A_DAY_MAX;
  });
}

function isSameSpike(before: Alert, alert: Alert): boolean {
  if (alert.rule !== 'denials' || before.rule !== 'denials') return false;
  if (before.project_id !== alert.project_id || before.agent_name !== alert.agent_name) return false;
  const ageMs = Date.parse(alert.fired_at) - Date.parse(before.fired_at);
  return ageMs < (before.tool_name === alert.tool_name ? SAME_SPIKE_MS : SAME_AGENT_MS);
}
