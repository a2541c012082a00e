import { EmptyState } from '../ui/states.tsx';

export function NotFoundPage() {
  return (
    <EmptyState title="Page not found" isPage>
      <p>
        <a href="/">Go to the start page</a>
      </p>
    </EmptyState>
  );
}
