import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { call } from '../api/call.ts';
import { useAnswer } from '../api/use-answer.ts';
import { EmptyState } from '../ui/states.tsx';
import { Inert } from '../ui/inert.tsx';
import { signInHref } from './location.ts';
import { recall, remember } from './remembered.ts';
import { useIsMember, useSession } from './session.tsx';

type ProjectGateProps = { projectId: string; children: ComponentChildren };

/** The pages of a project. A project that does not exist looks like an empty one to the audit reads, so it is looked up. */
export function ProjectGate({ projectId, children }: ProjectGateProps) {
  const isMember = useIsMember(projectId);
  const session = useSession();
  const { data, error } = useAnswer(
    isMember || session.status === 'loading' ? undefined : call('GET /v1/projects/{id}', { id: projectId }),
  );
  const isMissing = error?.code === 'not_found';
  const exists = isMember || data !== undefined;
  useEffect(() => {
    if (exists) remember('project', projectId);
    else if (isMissing && recall('project') === projectId) remember('project', undefined);
  }, [projectId, exists, isMissing]);
  if (session.status === 'out' && session.hasEnded) return <SessionEnded />;
  if (!isMissing) return <>{children}</>;
  return (
    <EmptyState title="Project not found" isPage>
      <p>
        No project has the ID <Inert text={projectId} />. Check the address, or ask for the link again.
      </p>
      <p>
        <a href="/?choose">Choose a project</a>
      </p>
    </EmptyState>
  );
}

/** Shown instead of a page, so that nothing that only members may see stays on the screen. */
function SessionEnded() {
  return (
    <div role="alert">
      <EmptyState title="Your session has ended" isPage>
        <p>Sign in to go on here. Unsaved changes to policies stay in this tab until it is reloaded.</p>
        <p class="state-actions">
          <a class="button primary" href={signInHref()}>
            Sign in
          </a>
        </p>
      </EmptyState>
    </div>
  );
}
