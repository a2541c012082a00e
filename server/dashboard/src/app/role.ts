import { call } from '../api/call.ts';
import { type Loaded, useAnswer } from '../api/use-answer.ts';
import type { Role } from '../../../rights.ts';
import { useIsMember, useSession } from './session.tsx';

type Found = Pick<Loaded<'GET /v1/projects/{id}/members'>, 'isLoading' | 'error' | 'reload'>;

/** The role of the person in a project; undefined when they are not a member, or while it is not known. */
export function useRole(projectId: string): Found & { role: Role | undefined } {
  const session = useSession();
  const isMember = useIsMember(projectId);
  const { data, isLoading, error, reload } = useAnswer(
    isMember ? call('GET /v1/projects/{id}/members', { id: projectId }) : undefined,
  );
  const role = data?.items.find(({ account_id }) => account_id === session.me?.id)?.role;
  return { role, isLoading: isLoading || session.status === 'loading', error, reload };
}
