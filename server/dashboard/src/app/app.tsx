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
import { capitalized } from '../text/format.ts';
import { cutText, inertText } from '../text/inert-text.ts';
import { EmptyState } from '../ui/states.tsx';
import { ToastProvider } from '../ui/toast.tsx';
import { usePlace } from './location.ts';
import { ProjectGate } from './project-gate.tsx';
import { type Page, pageFrom } from './route.ts';
import { SecretsProvider } from './secrets.tsx';
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
      <SecretsProvider>
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
      </SecretsProvider>
    </SessionProvider>
  );
}

/** The key resets a page when its subject changes. The key of ProjectGate does so when the project changes. */
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
      return <OverviewPage projectId={page.projectId} />;
    case 'decisions':
    case 'decision':
      // A single page: its list stays while a record opens and closes.
      return <DecisionsPage {...page} />;
    case 'agents':
      return <AgentsPage projectId={page.projectId} />;
    case 'agent':
      return <AgentPage key={page.agentName} {...page} />;
    case 'usage':
      return <UsagePage projectId={page.projectId} />;
    case 'model-calls':
      return <CallsPage projectId={page.projectId} />;
    case 'completeness':
      return <CompletenessPage projectId={page.projectId} />;
    case 'alerts':
      return <AlertsPage projectId={page.projectId} />;
    case 'proof':
      return <ProofPage projectId={page.projectId} />;
    case 'keys':
      return <KeysPage projectId={page.projectId} />;
    case 'members':
      return <MembersPage projectId={page.projectId} />;
    case 'activity':
      return <ActivityPage projectId={page.projectId} />;
    default:
      return (
        <EmptyState title="Page not found" isPage>
          <p>
            <a href="/">Go to the start page</a>
          </p>
        </EmptyState>
      );
  }
}

function titleOf(page: Page | undefined): string {
  if (page === undefined) return 'Page not found';
  if (page.name === 'agent') return inertText(cutText(page.agentName, 60));
  return page.name === 'home' ? 'Welcome' : capitalized(page.name.replaceAll('-', ' '));
}
