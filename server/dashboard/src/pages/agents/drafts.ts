/** Unsaved text by agent and part. It survives navigation within the dashboard. */
export const drafts = new Map<string, string>();

let owner: string | undefined;

/** Called with the account that is signed in: nobody sees the drafts of somebody else. */
export function claimDrafts(accountId: string): void {
  if (owner !== undefined && owner !== accountId) drafts.clear();
  owner = accountId;
}

/** The draft, if there is one. */
export function draftOf(key: string): string | undefined {
  return drafts.get(key);
}

export function putDraft(key: string, text: string): void {
  drafts.set(key, text);
}

export function draftKey(projectId: string, agentName: string, part: string): string {
  return JSON.stringify([projectId, agentName, part]);
}
