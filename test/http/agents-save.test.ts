import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { expect } from 'chai';
import { recordHash } from '../../server/policy/record-hash.ts';
import { jsonOf } from '../support/accounts.ts';
import {
  checkDraft,
  fetchAgent,
  type FetchedAgent,
  policyText,
  readProject,
  register,
  save,
  type SavedAgent,
} from '../support/agents.ts';
import { outcomeOf, sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { useSharedService } from '../support/shared-service.ts';

type Version = { version: number; etag: string; bundle: string };
type Fleet = {
  keys: number;
  keys_on_latest: number;
  items: { version: number | null; is_latest: boolean; keys: number }[];
};
type Changed = { changed: number; changes: { from: string; to: string; count: number }[] };
type Replay = Changed & {
  examined: number;
  replayed: number;
  not_replayable: number;
  next_cursor: string | null;
  current: (Changed & { version: number }) | null;
};

describe('PUT /v1/projects/{id}/agents/{name}', () => {
  const service = useSharedService();

  it('compiles and signs the policy, and serves it at the next fetch', async () => {
    await register(service, { name: 'save', tools: ['search'] });
    const response = await save(service, 'save', { policy_yaml: policyText('saved') });
    const saved = await jsonOf<SavedAgent>(response);

    expect(response.status).to.equal(200);
    expect(saved).to.include({ name: 'save', version: 2, created: false, bundle: 'signed' });
    expect((await fetchAgent(service, 'save')).headers.get('etag')).to.equal(saved.etag);
  });

  it('creates no version when nothing changes', async () => {
    await register(service, { name: 'same', tools: ['search'], system_md: 'x' });
    const first = await jsonOf<SavedAgent>(save(service, 'same', { system_md: 'x' }));
    const second = await jsonOf<SavedAgent>(save(service, 'same', {}));

    expect([first.version, second.version]).to.deep.equal([1, 1]);
  });

  it('keeps a note with its version, and leaves answers without one unchanged', async () => {
    const note = 'Tickets 12 and 13:\nsearch is back. <b>"é"</b> 😀';
    await register(service, { name: 'noted', tools: ['search'] });
    const plain = await jsonOf<SavedAgent>(save(service, 'noted', { system_md: 'one' }));
    const noted = await jsonOf<SavedAgent>(save(service, 'noted', { system_md: 'two', note }));
    const again = await jsonOf<SavedAgent>(save(service, 'noted', { system_md: 'two', note: 'another' }));
    const alone = await jsonOf<SavedAgent>(save(service, 'noted', { note: 'another' }));

    expect(plain).not.to.have.property('note');
    expect(noted).to.include({ version: 3, note });
    expect([again, alone]).to.deep.equal([noted, noted]);
    const { items } = await readProject<{ items: Version[] }>(service, 'agents/noted/versions');
    expect(items.map((item) => Object.entries(item).filter(([name]) => name === 'note'))).to.deep.equal([
      [['note', note]],
      [],
      [],
    ]);
    expect(await readProject<Version>(service, 'agents/noted/versions/3')).to.include({ note });
    expect(await readProject<Version>(service, 'agents/noted/versions/2')).not.to.have.property('note');
    const fetched = await jsonOf<FetchedAgent>(fetchAgent(service, 'noted'));
    expect(fetched).not.to.have.property('note');
    const record = { ...fetched, project_id: service.project_id, agent_name: 'noted' };
    const { record_hash } = JSON.parse(fetched.bundle_manifest ?? '') as { record_hash: string };
    expect(record_hash).to.equal(recordHash(record));
  });

  it('returns 422 for a note that is empty, too long or not text', async () => {
    await register(service, { name: 'misnoted', tools: ['search'] });
    for (const note of ['', 'x'.repeat(501), 'a\tb', 'a\rb', '\0', '\u0085', '\ud800', 7, null]) {
      const response = await save(service, 'misnoted', { system_md: 'x', note });
      const problem = await jsonOf<{ code: string; errors: { path: string }[] }>(response);
      expect([response.status, problem.code, problem.errors[0]?.path], JSON.stringify(note)).to.deep.equal([
        422,
        'body_invalid',
        '/note',
      ]);
    }
    const { version } = await jsonOf<SavedAgent>(
      save(service, 'misnoted', { system_md: 'x', note: '😀'.repeat(500) }),
    );
    expect(version).to.equal(2);
  });

  it('returns every error of a bad policy with line and column, and saves nothing', async () => {
    await register(service, { name: 'bad', tools: ['search'] });
    const response = await save(service, 'bad', {
      policy_yaml: 'version: 2\ntools: [a, a]\nroles: {}\nrule: []\n',
    });
    const problem = await jsonOf<{
      code: string;
      errors: { line: number; column: number; message: string }[];
    }>(response);

    expect(response.status).to.equal(422);
    expect(problem.code).to.equal('policy_invalid');
    expect(problem.errors.length).to.be.greaterThan(2);
    for (const error of problem.errors) expect(error).to.include.keys('line', 'column', 'message');
    expect((await readProject<{ items: Version[] }>(service, 'agents/bad/versions')).items).to.have.length(1);
  });

  it('returns 422 policy_invalid with a position for a policy that is too long or not text', async () => {
    await register(service, { name: 'strange', tools: ['search'] });
    for (const text of ['version: 1\0', 'version: "\ud800"', 'version: \x01', '#'.repeat(600_000)]) {
      const response = await save(service, 'strange', { policy_yaml: text });
      const problem = await jsonOf<{ code: string; errors: object[] }>(response);

      expect([response.status, problem.code]).to.deep.equal([422, 'policy_invalid']);
      expect(problem.errors[0]).to.include.keys('line', 'column', 'message');
    }
  });

  it('returns 422 body_invalid with every position for a definition that is not YAML, and saves nothing', async () => {
    await register(service, { name: 'torn', tools: ['search'], agent_yaml: 'name: [' });
    const response = await save(service, 'torn', { agent_yaml: 'name: torn\ntools: [\n', system_md: 'new' });
    const problem = await jsonOf<{ code: string; errors: { path: string; line: number; column: number }[] }>(
      response,
    );

    expect([response.status, problem.code]).to.deep.equal([422, 'body_invalid']);
    expect(problem.errors[0]).to.include({ path: '/agent_yaml', line: 3, column: 1 });
    expect((await readProject<{ items: Version[] }>(service, 'agents/torn/versions')).items).to.have.length(
      1,
    );
    const good = await save(service, 'torn', { agent_yaml: 'name: torn\ntools: []\n' });
    expect(good.status).to.equal(200);
  });

  it('answers 412 to an If-Match that is not current, and 200 to one that is', async () => {
    const { etag } = await jsonOf<SavedAgent>(register(service, { name: 'match', tools: ['search'] }));
    const stale = await save(service, 'match', { system_md: 'a' }, { headers: { 'If-Match': '"old"' } });
    const current = await save(service, 'match', { system_md: 'a' }, { headers: { 'If-Match': etag } });

    expect(await outcomeOf(stale)).to.deep.equal({ status: 412, code: 'precondition_failed' });
    expect(current.status).to.equal(200);
  });

  it('accepts one of 50 concurrent saves with the same If-Match', async () => {
    const { etag } = await jsonOf<SavedAgent>(register(service, { name: 'fifty', tools: ['search'] }));
    const saves = Array.from({ length: 50 }, (_, i) =>
      save(service, 'fifty', { system_md: `v${i}` }, { headers: { 'If-Match': etag } }),
    );
    const statuses = (await Promise.all(saves)).map(({ status }) => status);

    expect(statuses.filter((status) => status === 200)).to.have.length(1);
    expect(statuses.filter((status) => status === 412)).to.have.length(49);
  });

  it('answers 404 for an agent that is not registered, 401 without and 403 with a key of another project', async () => {
    const other = await save(service, 'save', {}, { projectId: '00000000-0000-4000-8000-000000000000' });

    expect((await save(service, 'nobody', {})).status).to.equal(404);
    expect((await save(service, 'save', {}, { key: 'x' })).status).to.equal(401);
    expect(await outcomeOf(other)).to.deep.equal({ status: 403, code: 'forbidden' });
  });

  it('serves a policy that is too big for a bundle without one, under another ETag', async () => {
    await register(service, { name: 'big', tools: ['search'] });
    // A number takes a few bytes of text and more in the module.
    const numbers = Array.from({ length: 85 }, (_, i) => i).join(', ');
    const rule = (i: number) =>
      `  - {id: r${i}, when: {arg: a, in: [${numbers}]}, effect: deny, reason: Closed}`;
    const rules = Array.from({ length: 140 }, (_, i) => rule(i)).join('\n');
    const policy_yaml = policyText('big').replace('rules: []', `rules:\n${rules}`);
    const saved = await jsonOf<SavedAgent>(save(service, 'big', { policy_yaml }));
    const fetched = await fetchAgent(service, 'big');

    expect(saved).to.include({ version: 2, bundle: 'absent' });
    expect(saved.etag).to.match(/^"yaml-[0-9a-f]{64}"$/);
    expect(fetched.headers.get('etag')).to.equal(saved.etag);
    expect(await jsonOf(fetched)).to.have.all.keys(
      'agent_id',
      'agent_version_id',
      'version',
      'agent_yaml',
      'policy_yaml',
      'system_md',
    );
  });

  it('lists agents and versions, and returns one version', async () => {
    await register(service, { name: 'history', tools: ['search'] });
    await save(service, 'history', { system_md: 'second' });
    const agents = await readProject<{ items: { name: string; version: number }[] }>(service, 'agents');
    const versions = await readProject<{ items: Version[] }>(service, 'agents/history/versions');
    const first = await readProject<{ version: number; system_md: string }>(
      service,
      'agents/history/versions/1',
    );

    expect(agents.items.find(({ name }) => name === 'history')).to.include({ version: 2 });
    expect(versions.items.map(({ version }) => version)).to.deep.equal([2, 1]);
    expect(first).to.include({ version: 1, system_md: '' });
    expect(await readProject(service, 'agents/history/versions/3')).to.include({
      status: 404,
      code: 'not_found',
    });
    expect(await readProject(service, 'agents/nobody/versions')).to.include({
      status: 404,
      code: 'agent_unknown',
    });
  });

  it('shows in the fleet view which versions clients hold and how many have the latest', async () => {
    const { etag } = await jsonOf<SavedAgent>(register(service, { name: 'fleet', tools: ['search'] }));
    await fetchAgent(service, 'fleet', { headers: { 'If-None-Match': etag } });
    const held = await readProject<Fleet>(service, 'agents/fleet/fleet');
    const saved = await jsonOf<SavedAgent>(save(service, 'fleet', { system_md: 'new' }));
    const afterSave = await readProject<Fleet>(service, 'agents/fleet/fleet');
    await fetchAgent(service, 'fleet', { headers: { 'If-None-Match': saved.etag } });
    const afterMove = await readProject<Fleet>(service, 'agents/fleet/fleet');

    expect(held).to.deep.include({ keys: 1, keys_on_latest: 1 });
    expect(held.items.map(({ version, is_latest, keys }) => ({ version, is_latest, keys }))).to.deep.equal([
      { version: 1, is_latest: true, keys: 1 },
    ]);
    expect(afterSave).to.include({ keys: 1, keys_on_latest: 0 });
    expect(afterMove).to.include({ keys: 1, keys_on_latest: 1 });
    expect(afterMove.items).to.have.length(2);
  });
});

describe('POST /v1/projects/{id}/agents/{name}/check', () => {
  const service = useSharedService();

  it('matches the OpenAPI document, with no additional key', async () => {
    const ajv = new Ajv2020({ strict: false });
    addFormatsModule.default(ajv);
    ajv.addSchema({ $id: 'document', ...(await jsonOf<object>(fetch(`${service.url}/openapi.json`))) });
    const isDeclared = ajv.getSchema('document#/components/schemas/Check');
    await sendDecision(service, decisionEvent({ agent_name: 'checked', role: 'nobody' }));
    const policy_yaml = policyText('checked').replace('"*"', 'admin');
    const draft = { policy_yaml, calls: [{ tool: 'search' }], replay: {} };
    const answer = await jsonOf<{ replay: { changes: unknown[] } }>(checkDraft(service, 'checked', draft));
    const invalid = await jsonOf<object>(checkDraft(service, 'checked', { policy_yaml: 'version: 1\n' }));

    expect(answer.replay.changes).to.have.length(1);
    expect([answer, invalid].map((body) => isDeclared?.(body))).to.deep.equal([true, true]);
    expect(isDeclared?.({ ...invalid, more: 1 })).to.equal(false);
  });

  it('returns the errors of a draft, and saves nothing', async () => {
    const answer = await jsonOf<{ valid: boolean; errors: unknown[] }>(
      checkDraft(service, 'any', { policy_yaml: 'version: 1\n' }),
    );

    expect(answer.valid).to.equal(false);
    expect(answer.errors.length).to.be.greaterThan(0);
  });

  it('returns the size of the module and decides the given calls', async () => {
    const calls = [{ tool: 'search' }, { tool: 'rm', role: 'admin', arguments: { path: '/' } }];
    const answer = await jsonOf<{ module_bytes: number; decisions: { outcome: string }[] }>(
      checkDraft(service, 'any', { policy_yaml: policyText('draft'), calls }),
    );

    expect(answer.module_bytes).to.be.within(5000, 120_000);
    expect(answer.decisions.map(({ outcome }) => outcome)).to.deep.equal(['allow', 'deny']);
  });

  it('compares every digit of the numbers in the given calls', async () => {
    const policy_yaml = `version: 1
tools: [t]
roles: {"*": {allow: [t]}}
rules:
  - {id: exact, effect: deny, reason: R., when: {arg: n, eq: 9007199254740993}}
  - {id: huge, effect: deny, reason: R., when: {arg: n, gt: 1e308}}
`;
    const numbers = ['9007199254740993', '9007199254740992', '1e400', '1.0', '-0', '9007199254740993.0'];
    const calls = numbers.map((n) => `{"tool": "t", "role": "9007199254740993", "arguments": {"n": ${n}}}`);
    const body = `{"policy_yaml": ${JSON.stringify(policy_yaml)}, "calls": [${calls.join(', ')}]}`;
    const response = await checkDraft(service, 'any', body);
    const { decisions } = (await response.json()) as { decisions: { violations: string[] }[] };

    expect(decisions.map(({ violations }) => violations)).to.deep.equal([
      ['exact: R.'],
      [],
      ['huge: R.'],
      [],
      [],
      ['exact: R.'],
    ]);
  });

  it('replays stored decisions and counts changes by tool, role, from and to', async () => {
    const recorded = [
      decisionEvent({ agent_name: 'replay', role: '', arguments: { amount: 5 } }),
      decisionEvent({ agent_name: 'replay', role: '', arguments: { amount: 250 } }),
      decisionEvent({ agent_name: 'replay', role: '', arguments: { token: '[REDACTED]' } }),
      decisionEvent({
        agent_name: 'replay',
        role: '',
        arguments: { _truncated: true, original_bytes: 9000, preview: '{' },
      }),
    ];
    for (const event of recorded) await sendDecision(service, event);
    const rule =
      '  - {id: limit, require: {arg: amount, lte: 100}, effect: needs_approval, reason: Too much}';
    const policy_yaml = policyText('limit').replace('rules: []', `rules:\n${rule}`);
    const { replay } = await jsonOf<{ replay: Replay }>(
      checkDraft(service, 'replay', { policy_yaml, replay: { window: '24h', limit: 100 } }),
    );

    expect(replay).to.deep.include({ examined: 4, replayed: 2, not_replayable: 2, changed: 1 });
    expect([replay.next_cursor, replay.current]).to.deep.equal([null, null]);
    expect(replay.changes).to.deep.equal([
      {
        tool: 'search',
        role: '',
        from: 'allow',
        to: 'needs_approval',
        count: 1,
        samples: [recorded[1]?.['event_id']],
      },
    ]);
  });

  it('also compares the draft with the saved policy, page by page', async () => {
    const agent = 'compare';
    await register(service, { name: agent, tools: ['search'] });
    await save(service, agent, { policy_yaml: policyText('saved') });
    const occurred_at = new Date(Date.now() - 60_000).toISOString();
    // Recorded under a policy other than the saved one, which allows them. Some at the same time.
    for (let index = 0; index < 5; index += 1) {
      const time = index < 3 ? { occurred_at } : {};
      const recorded = { outcome: 'deny', error_type: 'policy_denied', reason: 'No' };
      await sendDecision(service, decisionEvent({ agent_name: agent, role: '', ...recorded, ...time }));
    }
    const replayOf = async (policy_yaml: string, cursor?: string | null) => {
      const replay = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      return (await jsonOf<{ replay: Replay }>(checkDraft(service, agent, { policy_yaml, replay }))).replay;
    };
    const ask = policyText('ask').replace('allow', 'approve');
    const pages = [await replayOf(ask)];
    for (let page = pages.at(-1); page?.next_cursor != null; page = pages.at(-1))
      pages.push(await replayOf(ask, page.next_cursor));
    const same = await replayOf(policyText('saved'));

    expect(pages.map(({ examined }) => examined)).to.deep.equal([2, 2, 1]);
    expect(pages.map(({ current }) => [current?.version, current?.changed])).to.deep.equal([
      [2, 2],
      [2, 2],
      [2, 1],
    ]);
    expect(pages[0]?.current?.changes[0]).to.include({ from: 'allow', to: 'needs_approval', count: 2 });
    expect(pages[0]?.changes[0]).to.include({ from: 'deny', to: 'needs_approval', count: 2 });
    expect([same.changed, same.current]).to.deep.equal([2, { version: 2, changed: 0, changes: [] }]);
    const wrong = checkDraft(service, agent, { policy_yaml: ask, replay: { cursor: 'x' } });
    expect(await jsonOf<object>(wrong)).to.include({ status: 422, code: 'body_invalid' });
  });
});
