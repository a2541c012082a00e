import type { Logger } from './logger.ts';

let hasWarned = false;

/** Spec 6.2: once per process, when there is a platform for decisions and the policy does not come from it. */
export function warnOfBoth(
  set: { apiKey: string | undefined; localPolicy: string | undefined },
  logger: Logger,
): void {
  if (hasWarned || !set.apiKey || !set.localPolicy) return;
  hasWarned = true;
  logger.warn(
    'GATE_API_KEY and GATE_LOCAL_POLICY are both set: decisions of the local policy go to the platform, except in local mode',
  );
}
