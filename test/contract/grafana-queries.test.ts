import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readConfig } from '../../server/config.ts';
import { createLogger } from '../../server/logger.ts';
import { createStore } from '../../server/store/store.ts';
import { dashboardStatements } from '../observe/expressions.ts';
import { temporaryDirectory } from '../support/service.ts';

const STATEMENTS = dashboardStatements();
const PROJECT = randomUUID();
const OTHER_PROJECT = randomUUID();
const FROM = 1767225600;
const TO = FROM + 7200;

const quoted = (values: string[]) => values.map((value) => `'${value.replaceAll("'", "\\'")}'`).join(',');

/** The values that Grafana fills in for variables, and for the macros of its data source. No agents means all. */
function expand(text: string, agents: string[] = []): string {
  return text
    .replaceAll(/\$__conditionalAll\((.*), \$agent\)/g, agents.length === 0 ? '1=1' : '$1')
    .replaceAll('${agent:singlequote}', quoted(agents))
    .replaceAll('${project_id:singlequote}', quoted([PROJECT]))
    .replaceAll(/\$__timeInterval\((\w+)\)/g, 'toStartOfInterval(toDateTime($1), INTERVAL 3600 second)')
    .replaceAll(/\$__timeFilter\((\w+)\)/g, `$1 >= toDateTime(${FROM}) AND $1 <= toDateTime(${TO})`);
}

describe('the Grafana dashboard of decisions', () => {
  const store = createStore(readConfig({ GATE_DATA_DIR: temporaryDirectory() }), createLogger('silent'));
  const ask = (name: string, agents?: string[]) =>
    store.lookups.query<Record<string, unknown>>(expand(STATEMENTS[name] ?? '', agents));

  before(async () => {
    await store.ready();
    await store.background.command('ALTER TABLE decisions REMOVE TTL');
    await store.background.command('SYSTEM STOP MERGES decisions');
    const rows: [seconds: number, agent: string, outcome: string, reason: string, project?: string][] = [
      [0, 'bot', 'deny', 'no'],
      [1, 'bot', 'deny', 'no'],
      [2, 'bot', 'allow', ''],
      [3, 'bot', 'needs_approval', 'ask'],
      [3600, "Ann's", 'deny', 'late'],
      [3601, "Ann's", 'allow', ''],
      // Neither in the project nor in the time range.
      [5, 'foreign', 'deny', 'no', OTHER_PROJECT],
      [7202, 'foreign', 'deny', 'no', randomUUID()],
      [-1, 'early', 'deny', 'no'],
      [7201, 'late', 'deny', 'no'],
    ];
    // Each statement creates a part. Denied and approval rows are stored twice, which would also change shares.
    for (const version of [1, 2])
      for (const [index, [seconds, agent, outcome, reason, project = PROJECT]] of rows.entries()) {
        if (version === 2 && outcome === 'allow') continue;
        await store.background.command(
          `INSERT INTO decisions (event_id, project_id, occurred_at, outcome, reason, agent_name, version)
           SELECT {id: UUID}, {project: String}, toDateTime64({at: Int64}, 3, 'UTC'), {outcome: String}, {reason: String},
             {agent: String}, {version: UInt64}`,
          {
            id: `00000000-0000-4000-8000-00000000000${index}`,
            project,
            at: FROM + seconds,
            outcome,
            reason,
            agent,
            version,
          },
        );
      }
  });
  after(() => store.close());

  it('has a statement for each variable and panel, and leaves no placeholder unexpanded', () => {
    expect(Object.keys(STATEMENTS)).to.deep.equal([
      'project_id',
      'agent',
      'Decisions by outcome',
      'Denials by reason',
      'Denial rate by agent',
      'Top reasons',
      'Agents',
    ]);
    for (const text of Object.values(STATEMENTS)) expect(expand(text, ['bot'])).not.to.include('$');
  });

  it('offers the projects of the time range, and the agents of the project', async () => {
    const projects = [PROJECT, OTHER_PROJECT].sort().map((id) => ({ project_id: id }));
    expect(await ask('project_id')).to.deep.equal(projects);
    expect(await ask('agent')).to.deep.equal([{ agent_name: "Ann's" }, { agent_name: 'bot' }]);
  });

  it('counts every decision once, by outcome, reason and agent', async () => {
    const [first, second] = await ask('Decisions by outcome');
    expect(first).to.include({ allow: 1, deny: 2, needs_approval: 1 });
    expect(second).to.include({ allow: 1, deny: 1, needs_approval: 0 });
    expect(withoutTime(await ask('Denials by reason'))).to.deep.equal([
      { series: 'no', denials: 2 },
      { series: 'late', denials: 1 },
    ]);
    expect(withoutTime(await ask('Denial rate by agent'))).to.deep.equal([
      { agent_name: 'bot', denied: 0.5 },
      { agent_name: "Ann's", denied: 0.5 },
    ]);
    expect(await ask('Top reasons')).to.deep.equal([
      { reason: 'no', denied: 2, needs_approval: 0, agents: 1 },
      { reason: 'ask', denied: 0, needs_approval: 1, agents: 1 },
      { reason: 'late', denied: 1, needs_approval: 0, agents: 1 },
    ]);
    expect(await ask('Agents')).to.deep.equal([
      { agent_name: 'bot', decisions: 4, denied: 2, needs_approval: 1, denial_rate: 0.5 },
      { agent_name: "Ann's", decisions: 2, denied: 1, needs_approval: 0, denial_rate: 0.5 },
    ]);
  });

  it('counts the chosen agents only', async () => {
    const [only, ...others] = await ask('Decisions by outcome', ["Ann's"]);
    expect(only).to.include({ allow: 1, deny: 1, needs_approval: 0 });
    expect(others).to.deep.equal([]);
    expect(withoutTime(await ask('Denials by reason', ["Ann's"]))).to.deep.equal([
      { series: 'late', denials: 1 },
    ]);
    for (const name of ['Denial rate by agent', 'Agents'])
      expect((await ask(name, ["Ann's"])).map((row) => row['agent_name'])).to.deep.equal(["Ann's"]);
    expect((await ask('Top reasons', ["Ann's"])).map(({ reason }) => reason)).to.deep.equal(['late']);
    expect(await ask('Agents', ["Ann's", 'bot'])).to.have.lengthOf(2);
  });

  it('puts reasons after the ten most frequent together', async () => {
    await store.background.command(
      `INSERT INTO decisions (event_id, project_id, occurred_at, outcome, reason, agent_name, version)
       SELECT generateUUIDv4(), {project: String}, toDateTime64({at: Int64}, 3, 'UTC'),
         if(number < 30, 'deny', 'needs_approval'), concat(if(number < 30, 'r', 'q'), toString(number % 10)), 'many', 1
       FROM numbers(90)`,
      { project: PROJECT, at: FROM + 10 },
    );
    const rows = withoutTime(await ask('Denials by reason'));
    expect(rows.filter(({ series }) => String(series).startsWith('r'))).to.have.lengthOf(10);
    expect(rows.filter(({ series }) => series === 'others')).to.deep.equal([
      { series: 'others', denials: 2 },
      { series: 'others', denials: 1 },
    ]);
    expect(withoutTime(await ask('Denials by reason', ["Ann's"]))).to.deep.equal([
      { series: 'late', denials: 1 },
    ]);
  });
});

function withoutTime(rows: Record<string, unknown>[]): Record<string, unknown>[] {
  return rows.map(({ time: _time, ...row }) => row);
}
