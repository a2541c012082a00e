import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { forgetAnswers } from '../api/use-answer.ts';
import { capitalized } from '../text/format.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Inert } from '../ui/inert.tsx';
import { Menu } from '../ui/menu.tsx';
import { EmptyState } from '../ui/states.tsx';
import { Notice } from '../ui/notice.tsx';
import { StaleNotice } from '../ui/stale-notice.tsx';
import { signInHref, usePlace } from './location.ts';
import { periodQuery } from './period.ts';
import { type Page, PROJECT_PAGES, projectPath, sectionOf } from './route.ts';
import { useSession } from './session.tsx';
import { useTheme } from './theme.ts';

/** Navigation around every page. */
export function Shell({ page, children }: { page: Page | undefined; children: ComponentChildren }) {
  const projectId = page !== undefined && 'projectId' in page ? page.projectId : undefined;
  const layout = projectId === undefined ? 'shell shell-plain' : 'shell';
  return (
    // Created again for each layout, because moving elements counts as a layout shift: https://web.dev/articles/cls
    <div key={layout} class={layout}>
      <a class="skip-link" href="#content">
        Skip to content
      </a>
      <header class="sidebar">
        <a class="brand" href="/" aria-label="Gatehouse, start page">
          <BrandMark />
          <span class="brand-name">Gatehouse</span>
        </a>
        {projectId !== undefined && <ProjectSwitcher projectId={projectId} page={page} />}
        {projectId !== undefined && <ProjectNav projectId={projectId} page={page} />}
        <div class="sidebar-end">
          <AccountLink />
          <ThemeButton />
        </div>
      </header>
      <main id="content" class="content" tabIndex={-1}>
        <SessionNotice />
        <StaleNotice />
        <PageGuard>{children}</PageGuard>
      </main>
    </div>
  );
}

function SessionNotice() {
  const { error, reload } = useSession();
  if (error === undefined) return null;
  return (
    <Notice error={error} retry={() => void reload()}>
      <b>Your account could not be loaded.</b>
    </Notice>
  );
}

/** Shown instead of a page with a defect. The navigation around it still works. */
function PageGuard({ children }: { children: ComponentChildren }) {
  const { path } = usePlace();
  // The console still shows it.
  const [error, reset] = useErrorBoundary((fault) => reportError(fault));
  useEffect(reset, [path]);
  if (error === undefined) return <>{children}</>;
  const retry = () => {
    // An answer that cannot be shown would fail again.
    forgetAnswers();
    reset();
  };
  return (
    <div role="alert">
      <EmptyState title="This page failed" isPage>
        <p>
          This is an error of the dashboard. Try again, or open another page. Changes that you have not saved
          are kept.
        </p>
        <p class="state-actions">
          <button type="button" onClick={retry}>
            Try again
          </button>
        </p>
      </EmptyState>
    </div>
  );
}

export function BrandMark() {
  return (
    <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" />
      <path d="M7 25V12l3-2 3 2v2h6v-2l3-2 3 2v13h-6v-4a3 3 0 0 0-6 0v4z" />
    </svg>
  );
}

type ProjectProps = { projectId: string; page: Page | undefined };

/** Links keep the period but not the filters. */
function ProjectNav({ projectId, page }: ProjectProps) {
  const query = periodQuery(usePlace().query);
  const current = sectionOf(page);
  const nav = useRef<HTMLElement>(null);
  // On a phone, the links are one line that is wider than the screen.
  useEffect(() => {
    const link = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (nav.current && link) nav.current.scrollLeft = link.offsetLeft - nav.current.clientWidth / 3;
  }, [current]);
  return (
    <nav class="nav" aria-label="Project" ref={nav}>
      {PROJECT_PAGES.map((name) => (
        <a
          key={name}
          href={projectPath(projectId, name) + query}
          aria-current={name === current ? 'page' : undefined}
        >
          <Icon name={name satisfies IconName} />
          {capitalized(name)}
        </a>
      ))}
      <a class="nav-docs" href="/docs" target="_blank" rel="noreferrer">
        <Icon name="external" />
        API
      </a>
    </nav>
  );
}

function ProjectSwitcher({ projectId, page }: ProjectProps) {
  const own = useSession().me?.projects ?? [];
  const name = own.find(({ id }) => id === projectId)?.name;
  const pageName = sectionOf(page) ?? 'overview';
  return (
    <Menu
      kind="project-switcher"
      label="Projects"
      summary={
        <>
          <span class="visually-hidden">Project</span>
          <span class="project-name">{name === undefined ? shortId(projectId) : <Inert text={name} />}</span>
        </>
      }
    >
      {(close) => (
        <ul>
          {own.map((project) => (
            <li key={project.id}>
              <a
                href={projectPath(project.id, pageName)}
                aria-current={project.id === projectId ? 'true' : undefined}
                onClick={close}
              >
                <Inert text={project.name} />
              </a>
            </li>
          ))}
          <li>
            <a href="/?choose" onClick={close}>
              Another project…
            </a>
          </li>
        </ul>
      )}
    </Menu>
  );
}

function shortId(id: string): string {
  return id.length > 13 ? `Project ${id.slice(0, 8)}…` : `Project ${id}`;
}

function AccountLink() {
  const session = useSession();
  if (session.status === 'loading') return null;
  if (session.status === 'out') {
    const { pathname } = location;
    const needsAccount = pathname.startsWith('/projects/') || pathname === '/account';
    return (
      <a class="account-link" href={needsAccount ? signInHref() : '/sign-in'} aria-label="Sign in">
        <Icon name="account" />
        <span>Sign in</span>
      </a>
    );
  }
  return (
    <a class="account-link" href="/account" title={session.me.email}>
      <Icon name="account" />
      <span>{session.me.email}</span>
    </a>
  );
}

const THEME_ICONS = { auto: 'auto', light: 'sun', dark: 'moon' } as const;
const THEME_LABELS = { auto: 'system', light: 'light', dark: 'dark' } as const;

function ThemeButton() {
  const { theme, next } = useTheme();
  const label = `Theme: ${THEME_LABELS[theme]}`;
  return (
    <button type="button" class="ghost icon-button" onClick={next} aria-label={label} title={label}>
      <Icon name={THEME_ICONS[theme]} />
    </button>
  );
}
