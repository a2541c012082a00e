import { hrefWith, navigate } from '../../app/location.ts';
import { Icon } from '../../ui/icon.tsx';

/** While live, new rows appear by themselves. A state of the address bar, so that a link can be live. */
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
