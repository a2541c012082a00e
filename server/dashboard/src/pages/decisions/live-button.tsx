import { hrefWith, navigate } from '../../app/location.ts';
import { Icon } from '../../ui/icon.tsx';

/** Switches live mode, in which new rows appear automatically. The address bar holds its state. */
export function LiveButton({ isLive }: { isLive: boolean }) {
  return (
    <button
      type="button"
      class={isLive ? 'live live-on' : 'live'}
      aria-pressed={isLive}
      onClick={() => navigate(hrefWith({ live: isLive ? undefined : '1' }), { replace: true })}
    >
      <Icon name={isLive ? 'pause' : 'play'} /> Live
    </button>
  );
}
