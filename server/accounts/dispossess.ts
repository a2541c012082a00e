import { type Actor, actorFrom } from '../access/access.ts';
import type { RecordActivity } from '../activity/activity.ts';
import type { BearerKeys } from '../keys/bearer-keys.ts';
import { memberEntry, type Members } from '../members/members.ts';
import type { Projects } from '../projects/projects.ts';

export type DispossessDeps = {
  projects: Projects;
  members: Members;
  bearerKeys: Pick<BearerKeys, 'revokeAll'>;
  /** Removes the webhook of a project. False when there is none. */
  removeWebhook: (projectId: string, changedBy: string) => Promise<boolean>;
  recordActivity: RecordActivity;
};
type Owner = { id: string; email: string };

/** Makes an account the only member of the projects that it created, and removes their keys and webhooks. */
export type Dispossess = (account: Owner, address: string) => Promise<void>;

/**
 * For an account whose address is verified for the first time: until then, anybody could have registered it and prepared ways back in
 * (https://arxiv.org/abs/2205.10174, account pre-hijacking). Its sessions end with the new password.
 */
export function createDispossess(deps: DispossessDeps): Dispossess {
  return async (account, address) => {
    for (const { id } of await deps.projects.madeBy(account.id))
      await clearProject(id, { ...deps, account, actor: actorFrom(account), address });
  };
}

async function clearProject(
  projectId: string,
  deps: DispossessDeps & { account: Owner; actor: Actor; address: string },
): Promise<void> {
  const { members, bearerKeys, removeWebhook, recordActivity, account, actor, address } = deps;
  const entry = { project_id: projectId, actor, address };
  const setRole = async (account_id: string, role: 'owner' | undefined) => {
    const membership = { projectId, accountId: account_id, changedBy: account.id };
    const change = memberEntry({ account_id }, await members.change(membership, () => role));
    if (change !== undefined) await recordActivity({ ...entry, ...change });
  };
  // Done first, because the stranger may have made someone else the owner, and the last owner cannot be removed.
  await setRole(account.id, 'owner');
  for (const { account_id } of await members.list(projectId))
    if (account_id !== account.id) await setRole(account_id, undefined);
  const revoked = await bearerKeys.revokeAll(projectId);
  await recordActivity(revoked.map((key_id) => ({ ...entry, event: 'key_revoked', detail: { key_id } })));
  if (await removeWebhook(projectId, account.id))
    await recordActivity({ ...entry, event: 'webhook_removed' });
}
