import { useEffect, useState } from 'preact/hooks';
import { showZone, shownZone, type Zone } from '../text/format.ts';
import { recall, remember } from './remembered.ts';

const CHANGED = 'gatehouse:zone';

/** Times are in UTC unless the person chose the zone of the browser. */
export function applyZone(): void {
  showZone(recall('zone') === 'local' ? 'local' : 'UTC');
}

/** The zone of all times on the page. Renders again when it changes. */
export function useZone(): { zone: Zone; choose: (zone: Zone) => void } {
  const [, setCount] = useState(0);
  useEffect(() => {
    const update = () => setCount((count) => count + 1);
    addEventListener(CHANGED, update);
    return () => removeEventListener(CHANGED, update);
  }, []);
  const choose = (next: Zone) => {
    remember('zone', next === 'local' ? next : undefined);
    showZone(next);
    dispatchEvent(new Event(CHANGED));
  };
  return { zone: shownZone(), choose };
}
