import { useEffect } from 'preact/hooks';
import { navigate, usePlace } from '../../app/location.ts';
import { recall } from '../../app/remembered.ts';
import { projectPath } from '../../app/route.ts';
import { useSession, type Session } from '../../app/session.tsx';
import { Inert } from '../../ui/inert.tsx';
import { Loading } from '../../ui/states.tsx';
import { CenteredPage } from '../account/centered-page.tsx';
import { OpenProject } from '../account/open-project.tsx';
import { SignInPage } from '../account/sign-in-page.tsx';
import { CreateProject } from './create-project.tsx';

/** Opens the project seen last, or else the newest one. `/?choose` lists the projects instead. */
export function HomePage() {
  const session = useSession();
  const mustChoose = usePlace().query.has('choose');
  const target = mustChoose ? undefined : targetOf(session);
  useEffect(() => {
    if (target !== undefined) navigate(projectPath(target, 'overview'), { replace: true });
  }, [target]);
  if (session.status === 'loading' || target !== undefined) return <Loading />;
  if (session.status === 'out') return <SignInPage />;
  const { projects } = session.me;
  return (
    <CenteredPage title={projects.length === 0 ? 'Your first project' : 'Projects'}>
      <ul class="plain-list">
        {projects.map(({ id, name }) => (
          <li key={id}>
            <a href={projectPath(id, 'overview')}>
              <Inert text={name} />
            </a>
          </li>
        ))}
      </ul>
      <CreateProject />
      <OpenProject />
    </CenteredPage>
  );
}

function targetOf(session: Session): string | undefined {
  if (session.status === 'loading') return undefined;
  const remembered = recall('project');
  if (session.status === 'out') return remembered;
  const own = session.me.projects;
  return own.some(({ id }) => id === remembered) ? remembered : own.at(-1)?.id;
}
