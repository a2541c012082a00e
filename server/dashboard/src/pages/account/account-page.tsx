import { call } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { projectPath } from '../../app/route.ts';
import { useSession } from '../../app/session.tsx';
import { CreateProject } from '../home/create-project.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { Inert } from '../../ui/inert.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, Loading } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { ChangePassword } from './change-password.tsx';
import { useMailedLink } from './mailed-link.ts';
import { RequestVerification } from './request-verification.tsx';
import { SessionList } from './session-list.tsx';

export function AccountPage() {
  const session = useSession();
  const link = useMailedLink();
  const isIn = session.status === 'in';
  const sessions = useAnswer(isIn ? call('GET /v1/auth/sessions') : undefined);
  const { data: options } = useAnswer(call('GET /v1/auth/options'));
  const signOut = useAction(session.signOut);
  if (session.status === 'loading')
    return (
      <div class="narrow">
        <PageHead title="Account" />
        <Loading />
      </div>
    );
  if (session.status === 'out') {
    return (
      <EmptyState title="Not signed in" isPage>
        <a class="button primary" href="/sign-in?next=%2Faccount">
          Sign in
        </a>
      </EmptyState>
    );
  }
  const { email, is_verified, projects } = session.me;
  return (
    <div class="narrow">
      <PageHead title="Account">
        <button type="button" onClick={() => void signOut.run()} aria-busy={signOut.isRunning}>
          Sign out
        </button>
      </PageHead>
      <FormError error={signOut.error} />
      <section class="panel">
        <h2>{email === '' ? 'Account without an e-mail address' : email}</h2>
        {email === '' ? (
          <p class="muted">You sign in with single sign-on.</p>
        ) : is_verified ? (
          <p class="muted">E-mail address verified.</p>
        ) : (
          <>
            <p>
              Your e-mail address is not verified yet. Follow the link in the e-mail, or request a new one.{' '}
              {link.isPrinted && link.place}
            </p>
            <RequestVerification />
          </>
        )}
      </section>
      {options?.password !== false && email !== '' && (
        <section class="panel">
          <h2>Password</h2>
          <ChangePassword onChanged={sessions.reload} />
        </section>
      )}
      <section class="panel">
        <h2>Sessions</h2>
        <SessionList sessions={sessions} />
      </section>
      <section class="panel">
        <h2>Projects</h2>
        <ul class="plain-list">
          {projects.map(({ id, name }) => (
            <li key={id}>
              <a href={projectPath(id, 'overview')}>
                <Inert text={name} />
              </a>{' '}
              <code class="muted">{id}</code>
            </li>
          ))}
        </ul>
        <CreateProject />
      </section>
    </div>
  );
}
