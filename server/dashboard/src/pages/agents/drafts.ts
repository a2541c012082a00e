/** Unsaved text by agent and part. It survives navigation within the dashboard. */
export const drafts = new Map<string, string>();

let owner: string | undefined;

/** Called with the signed-in account: nobody sees the drafts of somebody else. */
export function claimDrafts(accountId: string): void {
  if (owner !== undefined && owner !== accountId) drafts.clear();
  owner = accountId;
}

export function draftKey(projectId: string, agentName: string, part: string): string {
  return JSON.stringify([projectId, agentName, part]);
}
