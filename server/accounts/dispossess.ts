import { type Actor, actorFrom } from '../access/access.ts';
import type { RecordActivity } from '../activity/activity.ts';
import type { BearerKeys } from '../keys/bearer-keys.ts';
import type { Members } from '../members/members.ts';
import type { Projects } from '../projects/projects.ts';

type DispossessDeps = {
  projects: Projects;
  members: Members;
  bearerKeys: Pick<BearerKeys, 'list' | 'revoke'>;
  recordActivity: RecordActivity;
};
type Owner = { id: string; email: string };

/** Removes the other members and all keys from the projects that an account created. */
export type Dispossess = (account: Owner, address: string) => Promise<void>;

/**
 * For an account whose address is proved for the first time: until then anybody can have registered it and prepared ways
 * back in (https://arxiv.org/abs/2205.10174, account pre-hijacking). Its sessions end with the new password.
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
  const { members, bearerKeys, recordActivity, account, actor, address } = deps;
  const entry = { project_id: projectId, actor, address };
  for (const { account_id } of await members.list(projectId)) {
    if (account_id === account.id) continue;
    await members.change({ projectId, accountId: account_id, changedBy: account.id }, () => undefined);
    await recordActivity({ ...entry, event: 'member_removed', detail: { account_id } });
  }
  for (const { key_id, revoked_at } of await bearerKeys.list(projectId)) {
    if (revoked_at !== null) continue;
    await bearerKeys.revoke(projectId, key_id);
    await recordActivity({ ...entry, event: 'key_revoked', detail: { key_id } });
  }
}
