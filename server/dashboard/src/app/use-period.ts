import { usePlace } from './location.ts';
import { type Period, periodFrom } from './period.ts';

/** The period in the address bar. */
export function usePeriod(): Period {
  return periodFrom(usePlace().query);
}
