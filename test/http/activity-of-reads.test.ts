import { expect } from 'chai';
import { call, jsonOf, newMember, newPerson, type Person } from '../support/accounts.ts';
import { sendDecision } from '../support/audit.ts';
import { createServiceClock } from '../support/clock.ts';
import { decisionEvent } from '../support/events.ts';
import { issue, type Owner } from '../support/keys.ts';
import { type RunningService, startTestService, type TestService } from '../support/service.ts';
import { useSharedService } from '../support/shared-service.ts';

type Entry = { event: string; account_id: string; key_id: string; address: string; detail: object };

const POLICY = 'version: 1\ntools: [search]\nroles:\n  "*": {allow: [search]}\nrules: []\n';

/** The entries about reads and exports, oldest first. */
async function entriesOf(service: RunningService, { cookie, project }: Owner): Promise<Entry[]> {
  const path = `/v1/projects/${project.id}/activity?limit=500`;
  const { items } = await jsonOf<{ items: Entry[] }>(call(service, path, { cookie }));
  return items.filter(({ event }) => event.startsWith('records_')).toReversed();
}

const brief = ({ event, account_id, key_id, detail }: Entry) => [event, account_id || key_id, detail];

describe('activity of reads with GATE_READ_AUTH=required', () => {
  const clock = createServiceClock();
  let service: TestService;
  let owner: Person;
  let viewer: Person;
  let key: string;
  let key_id: string;
  before(async () => {
    service = await startTestService({ env: { ...clock.env, GATE_READ_AUTH: 'required' } });
    owner = await newPerson(service);
    viewer = await newMember(service, owner, 'viewer');
    ({ key, key_id } = await issue(service, owner, { scope: 'emit_audit read_audit edit_policy' }));
    await sendDecision(service, decisionEvent(), { key });
  });
  after(() => service.stop());

  const read = async (path: string, credential: { cookie?: string; key?: string }, body?: unknown) =>
    (await call(service, `/v1/projects/${owner.project.id}/${path}`, { ...credential, body })).status;

  it('has one entry per actor, kind and hour, and none for refused reads', async () => {
    const { cookie } = viewer;
    const reads = [
      'summary',
      'summary?window=7d',
      'timeseries',
      'decisions',
      'decisions?limit=1',
      'llm-usage',
      'llm-invocations',
    ];
    for (const path of reads) expect(await read(`audit/${path}`, { cookie })).to.equal(200);
    await Promise.all(Array.from({ length: 10 }, () => read('audit/summary', { key })));
    expect(await read('agents', { key })).to.equal(200);
    expect(await read('audit/summary', {})).to.equal(401);
    const check = { policy_yaml: POLICY, replay: {} };
    expect(await read('agents/bot/check', { key }, check)).to.equal(200);
    expect(await read('agents/bot/check', { key }, { policy_yaml: POLICY })).to.equal(200);

    const entries = await entriesOf(service, owner);

    expect(entries.map(brief)).to.deep.equal([
      ...['summary', 'timeseries', 'decisions', 'llm_usage', 'llm_invocations'].map((kind) => [
        'records_read',
        viewer.id,
        { kind },
      ]),
      ['records_read', key_id, { kind: 'summary' }],
      ['records_read', key_id, { kind: 'replay' }],
    ]);
    expect(new Set(entries.map(({ address }) => address))).to.deep.equal(new Set(['127.0.0.1']));

    clock.passMs(60 * 60 * 1000);
    for (let times = 0; times < 2; times += 1) await read('audit/summary', { key });
    expect((await entriesOf(service, owner)).slice(entries.length).map(brief)).to.deep.equal([
      ['records_read', key_id, { kind: 'summary' }],
    ]);
  });

  it('has one entry per hour even across a restart', async () => {
    await read('audit/timeseries', { key });
    const before = await entriesOf(service, owner);
    await service.stop();
    service = await startTestService({
      dataDir: service.dataDir,
      env: { ...clock.env, GATE_READ_AUTH: 'required' },
    });

    await read('audit/timeseries', { key });

    expect(await entriesOf(service, owner)).to.deep.equal(before);
  });

  it('has an entry for every export', async () => {
    const before = await entriesOf(service, owner);
    for (const query of ['', '', '?format=csv&window=7d'])
      expect(await read(`audit/decisions/export${query}`, { key })).to.equal(200);
    expect(await read('audit/decisions/export', {})).to.equal(401);

    const detail = { format: 'ndjson', window: '24h' };
    expect((await entriesOf(service, owner)).slice(before.length).map(brief)).to.deep.equal([
      ['records_exported', key_id, detail],
      ['records_exported', key_id, detail],
      ['records_exported', key_id, { format: 'csv', window: '7d' }],
    ]);
  });
});

describe('activity of reads with GATE_READ_AUTH=open', () => {
  const service = useSharedService();

  it('has an entry for every export, with the caller if a valid credential names one, and none for reads', async () => {
    const { owner, project_id, key } = service;
    const other = await newPerson(service);
    const get = (path: string, credential = {}) =>
      call(service, `/v1/projects/${project_id}/audit/${path}`, credential);
    await get('summary', { key });
    const credentials = [
      {},
      { key },
      { cookie: other.cookie },
      { key: 'broken' },
      { cookie: 'gate_session=x' },
    ];
    for (const credential of credentials)
      expect((await get('decisions/export', credential)).status).to.equal(200);

    const entries = await entriesOf(service, owner);

    expect(entries.map(({ event }) => event)).to.deep.equal(Array(5).fill('records_exported'));
    const [anonymous, byKey, byOther, ...broken] = entries.map(
      ({ account_id, key_id }) => account_id || key_id,
    );
    expect([anonymous, byOther, ...broken]).to.deep.equal(['', other.id, '', '']);
    expect(byKey).to.match(/^[0-9a-f-]{36}$/);
  });

  it('has no entry for a project that does not exist', async () => {
    expect((await call(service, '/v1/projects/none/audit/decisions/export')).status).to.equal(200);
  });
});
