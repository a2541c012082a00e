import { useEffect } from 'preact/hooks';
import { AccountPage } from '../pages/account/account-page.tsx';
import { ForgotPasswordPage } from '../pages/account/forgot-password-page.tsx';
import { RegisterPage } from '../pages/account/register-page.tsx';
import { ResetPasswordPage } from '../pages/account/reset-password-page.tsx';
import { SignInPage } from '../pages/account/sign-in-page.tsx';
import { VerifyEmailPage } from '../pages/account/verify-email-page.tsx';
import { ActivityPage } from '../pages/activity/activity-page.tsx';
import { AlertsPage } from '../pages/alerts/alerts-page.tsx';
import { AgentPage } from '../pages/agents/agent-page.tsx';
import { AgentsPage } from '../pages/agents/agents-page.tsx';
import { CompletenessPage } from '../pages/completeness/completeness-page.tsx';
import { DecisionsPage } from '../pages/decisions/decisions-page.tsx';
import { HomePage } from '../pages/home/home-page.tsx';
import { KeysPage } from '../pages/keys/keys-page.tsx';
import { MembersPage } from '../pages/members/members-page.tsx';
import { OverviewPage } from '../pages/overview/overview-page.tsx';
import { ProofPage } from '../pages/proof/proof-page.tsx';
import { CallsPage } from '../pages/usage/calls-page.tsx';
import { UsagePage } from '../pages/usage/usage-page.tsx';
import { cutText, inertText } from '../text/inert-text.ts';
import { ToastProvider } from '../ui/toast.tsx';
import { usePlace } from './location.ts';
import { NotFoundPage } from './not-found-page.tsx';
import { ProjectGate } from './project-gate.tsx';
import { type Page, pageFrom } from './route.ts';
import { SessionProvider } from './session.tsx';
import { Shell } from './shell.tsx';
import { useZone } from './zone.ts';

export function App() {
  const { path } = usePlace();
  const page = pageFrom(path);
  useZone();
  useEffect(() => {
    document.title = `${titleOf(page)} · Gatehouse`;
  }, [path]);
  return (
    <SessionProvider>
      <ToastProvider>
        <Shell page={page}>
          {page !== undefined && 'projectId' in page ? (
            <ProjectGate key={page.projectId} projectId={page.projectId}>
              <PageBody page={page} />
            </ProjectGate>
          ) : (
            <PageBody page={page} />
          )}
        </Shell>
      </ToastProvider>
    </SessionProvider>
  );
}

/** The key resets a page when its subject changes. */
function PageBody({ page }: { page: Page | undefined }) {
  switch (page?.name) {
    case 'home':
      return <HomePage />;
    case 'sign-in':
      return <SignInPage />;
    case 'register':
      return <RegisterPage />;
    case 'forgot-password':
      return <ForgotPasswordPage />;
    case 'verify-email':
      return <VerifyEmailPage key={page.token} token={page.token} />;
    case 'reset-password':
      return <ResetPasswordPage key={page.token} token={page.token} />;
    case 'account':
      return <AccountPage />;
    case 'overview':
      return <OverviewPage key={page.projectId} projectId={page.projectId} />;
    case 'decisions':
    case 'decision':
      // One page: its list stays while a record opens and closes.
      return <DecisionsPage key={page.projectId} {...page} />;
    case 'agents':
      return <AgentsPage key={page.projectId} projectId={page.projectId} />;
    case 'agent':
      return <AgentPage key={`${page.projectId}/${page.agentName}`} {...page} />;
    case 'usage':
      return <UsagePage key={page.projectId} projectId={page.projectId} />;
    case 'model-calls':
      return <CallsPage key={page.projectId} projectId={page.projectId} />;
    case 'completeness':
      return <CompletenessPage key={page.projectId} projectId={page.projectId} />;
    case 'alerts':
      return <AlertsPage key={page.projectId} projectId={page.projectId} />;
    case 'proof':
      return <ProofPage key={page.projectId} projectId={page.projectId} />;
    case 'keys':
      return <KeysPage key={page.projectId} projectId={page.projectId} />;
    case 'members':
      return <MembersPage key={page.projectId} projectId={page.projectId} />;
    case 'activity':
      return <ActivityPage key={page.projectId} projectId={page.projectId} />;
    default:
      return <NotFoundPage />;
  }
}

function titleOf(page: Page | undefined): string {
  if (page === undefined) return 'Page not found';
  if (page.name === 'agent') return inertText(cutText(page.agentName, 60));
  const words = page.name.replaceAll('-', ' ');
  return page.name === 'home' ? 'Welcome' : words.charAt(0).toUpperCase() + words.slice(1);
}
