import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { timeFromNow } from '../support/audit.ts';
import { sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { ask, askJson, type CursorPage } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS, HOUR_MS } from '../../server/durations.ts';

const KEYS = (
  'event_id,occurred_at,agent_name,tool_name,outcome,role,error_type,reason,violations,hint,arguments,' +
  'user_id,session_id,project_id,agent_version_id,received_at'
).split(',');

/** A reader of RFC 4180, strict: quotes only around whole cells, lines end in CRLF. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const row: string[] = [];
    for (;;) {
      const [whole = '', quoted, plain] = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))/y.exec(text.slice(at)) ?? [];
      at += whole.length;
      row.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
      if (text[at] !== ',') break;
      at += 1;
    }
    if (text.slice(at, at + 2) !== '\r\n')
      throw new Error(`no line end at ${at}: ${text.slice(at, at + 20)}`);
    at += 2;
    rows.push(row);
  }
  return rows;
}

describe('the export', () => {
  const service = useSharedService();
  const formulas = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\tx',
    '\rx',
    '=HYPERLINK("http://x","y")',
    '\n=1+1',
    '＝1+1',
    '＋1',
    '－1',
    '＠x',
  ];
  const isFormula = (cell: string) => /^[=+\-@\t\r\n＝＋－＠]/.test(cell);
  before(async () => {
    const texts = [
      'plain',
      'a,b',
      'say "hi"',
      'line\nbreak',
      'é😀',
      "'quoted",
      ' = space first',
      'Ａ．全角',
      ...formulas,
    ];
    const events = texts.map((reason, index) =>
      decisionEvent({
        occurred_at: timeFromNow(-index * HOUR_MS),
        reason,
        agent_name: reason,
        outcome: index % 2 === 0 ? 'allow' : 'deny',
        violations: index === 0 ? [] : [reason, 'x'],
        hint: index === 1 ? { why: reason } : null,
      }),
    );
    const exact = JSON.stringify(
      decisionEvent({ agent_name: 'exact', occurred_at: timeFromNow(-20 * HOUR_MS) }),
    );
    await sendBatch(service, [...events, exact.replace('"hello"', '9007199254740993,"f":0.10')]);
  });

  it('is NDJSON by default: the records of the list, one per line, newest first', async () => {
    const { headers, text, status } = await ask(service, 'decisions/export');
    const { items } = await askJson<CursorPage>(service, 'decisions', { query: { limit: '500' } });

    expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/x-ndjson']);
    expect(headers.get('content-disposition')).to.match(
      /^attachment; filename="decisions-24h-[\dT-]+Z\.ndjson"$/,
    );
    const lines = text.split('\n');
    expect(lines.pop()).to.equal('');
    expect(lines.map((line) => JSON.parse(line) as unknown)).to.deep.equal(items);
    expect(text).to.include('9007199254740993,"f":0.10');
  });

  it('as CSV has the 16 keys as a header and reads back as the records', async () => {
    const { headers, text } = await ask(service, 'decisions/export', { query: { format: 'csv' } });
    const { items } = await askJson<CursorPage>(service, 'decisions', { query: { limit: '500' } });

    expect(headers.get('content-type')).to.match(/^text\/csv; charset=utf-8/);
    const [header, ...rows] = parseCsv(text);
    expect(header).to.deep.equal(KEYS);
    expect(rows.length).to.equal(items.length);
    for (const [index, row] of rows.entries()) {
      const item = items[index] ?? {};
      const cells = KEYS.map((key) => {
        const value = item[key];
        const plain = typeof value === 'string' ? value : JSON.stringify(value);
        return isFormula(plain) ? `'${plain}` : plain;
      });
      if (item['agent_name'] !== 'exact') expect(row).to.deep.equal(cells);
    }
    expect(text).to.include('""query"":9007199254740993,""f"":0.10');
  });

  it('as CSV has no cell that a spreadsheet would treat as a formula', async () => {
    const { text } = await ask(service, 'decisions/export', { query: { format: 'csv' } });

    const cells = parseCsv(text).flat();
    expect(cells.filter(isFormula)).to.deep.equal([]);
    for (const formula of formulas) expect(cells).to.include(`'${formula}`);
  });

  it('takes the filters of the list', async () => {
    const { text } = await ask(service, 'decisions/export', { query: { outcome: 'deny', agent: 'a,b' } });

    const records = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records.map(({ agent_name, outcome }) => [agent_name, outcome])).to.deep.equal([['a,b', 'deny']]);
  });

  it('continues across days without a record, and across many records of one moment', async () => {
    const agent_name = randomUUID();
    const clusters = [0, 0, -1, -9 * DAY_MS, -9 * DAY_MS - 1, -60 * DAY_MS, -60 * DAY_MS];
    const times = clusters.map((ms) => timeFromNow(ms - HOUR_MS));
    const batches = times.map((occurred_at) =>
      Array.from({ length: 600 }, () => decisionEvent({ agent_name, occurred_at })),
    );
    const events = batches.flat();
    for (const batch of batches) await sendBatch(service, batch);

    const { text } = await ask(service, 'decisions/export', { query: { window: '90d', agent: agent_name } });
    const records = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event_id: string; occurred_at: string });
    const orderOf = (event: Record<string, unknown>) =>
      `${String(event['occurred_at'])} ${String(event['event_id'])}`;
    expect(records.map(orderOf)).to.deep.equal(events.map(orderOf).toSorted().toReversed());
  });

  it('of an unknown project is empty; as CSV it is the header', async () => {
    const projectId = randomUUID();
    const ndjson = await ask(service, 'decisions/export', { projectId });
    const csv = await ask(service, 'decisions/export', { projectId, query: { format: 'csv' } });

    expect([ndjson.status, ndjson.text]).to.deep.equal([200, '']);
    expect([csv.status, csv.text]).to.deep.equal([200, `${KEYS.join(',')}\r\n`]);
  });

  it('answers HEAD without a body', async () => {
    const path = `/v1/projects/${service.project_id}/audit/decisions/export`;
    const response = await fetch(`${service.url}${path}`, { method: 'HEAD' });

    expect([response.status, await response.text()]).to.deep.equal([200, '']);
  });
});
