import { EmptyState } from '../ui/states.tsx';

export function NotFoundPage() {
  return (
    <EmptyState title="There is no such page">
      <p>
        The address is not one of the dashboard. <a href="/">Go to the start</a>
      </p>
    </EmptyState>
  );
}
