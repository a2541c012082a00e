import { call } from '../api/call.ts';
import { useAnswer } from '../api/use-answer.ts';
import type { Role } from '../../../rights.ts';
import { useIsMember, useSession } from './session.tsx';

/** The role of the person in a project; undefined when they are not a member, or while it is loading. */
export function useRole(projectId: string): { role: Role | undefined; isLoading: boolean } {
  const session = useSession();
  const isMember = useIsMember(projectId);
  const { data, isLoading } = useAnswer(
    isMember ? call('GET /v1/projects/{id}/members', { id: projectId }) : undefined,
  );
  const role = data?.items.find(({ account_id }) => account_id === session.me?.id)?.role;
  return { role, isLoading: isLoading || session.status === 'loading' };
}
