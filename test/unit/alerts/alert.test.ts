import { expect } from 'chai';
import { type Alert, alertFrom, ALERTS_A_DAY_MAX, newsOf } from '../../../server/alerts/alert.ts';
import { linkOf, sentenceOf } from '../../../server/alerts/alert-words.ts';
import type { Finding } from '../../../server/alerts/rules.ts';
import { HOUR_MS } from '../../../server/durations.ts';

const NOW = Date.UTC(2026, 5, 10, 12, 30);

const finding = (given: Partial<Finding> = {}): Finding => ({
  rule: 'denials',
  agent_name: 'clerk',
  tool_name: 'pay',
  fromMs: NOW - 5 * 60_000,
  toMs: NOW,
  total: 40,
  denied: 30,
  usual: { total: 10_000, denied: 30 },
  ...given,
});
const alert = (given: Partial<Finding> = {}, nowMs = NOW): Alert =>
  alertFrom(finding(given), { projectId: 'p1', isMuted: false, nowMs });

describe('alerts', () => {
  it('derive their id from their content', () => {
    const silence = { rule: 'silence', tool_name: '' } as const;

    expect(alert().id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(alert().id).to.equal(alert({ total: 41 }).id);
    expect(alert().id).not.to.equal(alert({}, NOW + 1).id);
    expect(alert({ rule: 'new_names' }).id).to.equal(alert({ rule: 'new_names' }, NOW + HOUR_MS).id);
    expect(alert(silence).id).to.equal(alert(silence, NOW + HOUR_MS).id);
    expect(alert(silence).id).not.to.equal(alert({ ...silence, fromMs: NOW - 1 }).id);
  });

  const cases: [string, Alert[], Alert, boolean][] = [
    ['a spike', [], alert(), true],
    ['the same spike five hours later', [alert({}, NOW - 5 * HOUR_MS)], alert(), false],
    ['the same spike six hours later', [alert({}, NOW - 6 * HOUR_MS)], alert(), true],
    [
      'another tool of the agent half an hour later',
      [alert({ tool_name: '' }, NOW - HOUR_MS / 2)],
      alert(),
      false,
    ],
    ['another tool of the agent an hour later', [alert({ tool_name: '' }, NOW - HOUR_MS)], alert(), true],
    ['another agent', [alert({ agent_name: 'other' })], alert(), true],
    ['the spike of another project', [{ ...alert(), project_id: 'p2', id: 'other' }], alert(), true],
    ['a spike of a tool that is new', [alert({ rule: 'new_names' })], alert(), true],
    ['a tool that is new, in a spike', [alert()], alert({ rule: 'new_names' }), true],
    [
      'a new name again',
      [alert({ rule: 'new_names' }, NOW - 48 * HOUR_MS)],
      alert({ rule: 'new_names' }),
      false,
    ],
  ];
  for (const [what, known, one, isNews] of cases)
    it(`${isNews ? 'tell' : 'do not tell'} ${what}`, () => {
      expect(newsOf([one], known)).to.deep.equal(isNews ? [one] : []);
    });

  it('wait for their delivery, unless the project is muted', () => {
    const states = [false, true].map(
      (isMuted) => alertFrom(finding(), { projectId: 'p1', isMuted, nowMs: NOW }).state,
    );

    expect(states).to.deep.equal(['pending', 'muted']);
  });

  it('are limited to 20 per rule and day', () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      alert({ rule: 'new_names', tool_name: `t${index}` }),
    );

    const news = newsOf([...many, alert()], many.slice(0, 5));

    expect(news.filter(({ rule }) => rule === 'new_names')).to.have.lengthOf(ALERTS_A_DAY_MAX - 5);
    expect(news.at(-1)).to.deep.equal(alert());
  });

  it('link to exactly their range', () => {
    expect(linkOf(alert(), 'https://gate.example.com')).to.equal(
      'https://gate.example.com/projects/p1/decisions?from=2026-06-10T12%3A25%3A00.000Z&to=2026-06-10T12%3A30%3A00.000Z&agent=clerk&tool=pay&outcome=deny',
    );
  });

  it('fit on one line, whatever the names', () => {
    const names = { agent_name: 'a\r\nBcc: x', tool_name: 'b\u202ec' };

    expect(sentenceOf(alert(names))).to.equal(
      '30 of 40 calls of a\u{fffd}\u{fffd}Bcc: x with b\u{fffd}c were denied in 5 minutes, usually 0.30 %',
    );
    const almostAll = alert({ usual: { total: 1_000_000, denied: 996_000 } });
    expect(sentenceOf(almostAll)).to.match(/, usually >99 %$/);
    expect(sentenceOf(alert({ rule: 'silence', total: 0, usual: { total: 31, denied: 0 } }))).to.equal(
      'clerk has made no call for 5 minutes, in which it usually makes 31 or more',
    );
  });
});
