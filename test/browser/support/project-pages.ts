/** The pages of a project by their names, each with its path below that of the project. */
export const PROJECT_PAGES = {
  overview: 'overview',
  decisions: 'decisions',
  agents: 'agents',
  agent: 'agents/support-triage',
  versions: 'agents/support-triage?tab=versions',
  fleet: 'agents/support-triage?tab=fleet',
  definition: 'agents/support-triage?tab=definition',
  usage: 'usage',
  calls: 'usage/calls',
  completeness: 'completeness',
  alerts: 'alerts',
  proof: 'proof',
  keys: 'keys',
  members: 'members',
  activity: 'activity',
};
