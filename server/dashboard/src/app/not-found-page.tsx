import { EmptyState } from '../ui/states.tsx';

export function NotFoundPage() {
  return (
    <EmptyState title="Page not found">
      <p>
        <a href="/">Go to the start page</a>
      </p>
    </EmptyState>
  );
}
