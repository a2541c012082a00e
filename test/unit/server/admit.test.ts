import { expect } from 'chai';
import { admitTime } from '../../../server/ingest/admit.ts';
import { RequestError } from '../../../server/errors.ts';

const NOW_MS = Date.parse('2026-03-04T05:06:07.089Z');
const FUTURE_MS_MAX = 5 * 60_000;
const AGE_MS_MAX = 90 * 86_400_000;

const at = (occurredAtMs: number) => ({ occurredAtMs, occurred_at: new Date(occurredAtMs).toISOString() });

describe('admitTime', () => {
  for (const [what, ms] of Object.entries({
    'exactly 5 minutes ahead': FUTURE_MS_MAX,
    'of this moment': 0,
    'exactly 90 days old': -AGE_MS_MAX,
  })) {
    it(`accepts an event ${what}`, () => {
      expect(() => admitTime(at(NOW_MS + ms), NOW_MS)).to.not.throw();
    });
  }

  for (const [what, ms] of Object.entries({
    'one millisecond more than 5 minutes ahead': FUTURE_MS_MAX + 1,
    'one millisecond older than 90 days': -AGE_MS_MAX - 1,
  })) {
    it(`refuses an event ${what}`, () => {
      expect(() => admitTime(at(NOW_MS + ms), NOW_MS))
        .to.throw(RequestError)
        .with.property('code', 'occurred_at_out_of_range');
    });
  }
});
