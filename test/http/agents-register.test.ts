import { expect } from 'chai';
import { jsonOf } from '../support/accounts.ts';
import {
  fetchAgent,
  policyText,
  readProject,
  register,
  save,
  type FetchedAgent,
  type SavedAgent,
} from '../support/agents.ts';
import { outcomeOf } from '../support/audit.ts';
import { useSharedService } from '../support/shared-service.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe('POST /v1/agents', () => {
  const service = useSharedService();

  it('returns 201 with the ids, version 1 and the ETag of a fetch', async () => {
    const response = await register(service, { name: 'first', tools: ['search'] });
    const saved = await jsonOf<SavedAgent>(response);
    const fetched = await fetchAgent(service, 'first');

    expect(response.status).to.equal(201);
    expect(saved).to.have.all.keys('agent_id', 'name', 'agent_version_id', 'version', 'etag', 'created');
    expect(saved).to.include({ name: 'first', version: 1, created: true, etag: fetched.headers.get('etag') });
    expect(saved.agent_id).to.match(UUID);
    expect(saved.agent_version_id).to.match(UUID);
  });

  it('creates a default role-aware policy: read-only tools are allowed, all others need approval, admin may do all', async () => {
    const tools = [
      'write',
      { name: 'read', description: 'Reads', annotations: { readOnlyHint: true } },
      'write',
    ];
    await register(service, { name: 'roles', tools });
    const { policy_yaml } = await jsonOf<FetchedAgent>(fetchAgent(service, 'roles'));

    expect(policy_yaml).to.equal(
      'version: 1\nagent: "roles"\ntools: ["write", "read"]\nroles:\n  admin: {allow: ["*"]}\n' +
        '  "*":   {allow: ["read"], approve: ["write"]}\nrules: []\n',
    );
  });

  it('answers 200 and creates no version for the same manifest', async () => {
    const manifest = { name: 'again', tools: ['a', { name: 'b', annotations: { destructiveHint: true } }] };
    const first = await jsonOf<SavedAgent>(register(service, manifest));
    const second = await register(service, manifest);

    expect(second.status).to.equal(200);
    expect(await jsonOf(second)).to.deep.equal({ ...first, created: false });
    expect((await readProject<{ items: unknown[] }>(service, 'agents/again/versions')).items).to.have.length(
      1,
    );
  });

  it('creates no version when only the order of annotations or an unknown one changes', async () => {
    let deep: unknown = true;
    for (let depth = 0; depth < 3_000; depth += 1) deep = [deep];
    const annotations: unknown[] = [
      { readOnlyHint: true, destructiveHint: false },
      { destructiveHint: false, readOnlyHint: true },
      { readOnlyHint: true, destructiveHint: false, title: 'Searches' },
      { deep, readOnlyHint: true, destructiveHint: false },
    ];
    const versions: unknown[] = [];
    for (const hints of annotations) {
      const tools = [{ name: 'search', annotations: hints }];
      versions.push((await jsonOf<SavedAgent>(register(service, { name: 'hints', tools }))).version);
    }
    const { items } = await readProject<{ items: { name: string; tools: unknown[] }[] }>(service, 'agents');

    expect(versions).to.deep.equal([1, 1, 1, 1]);
    expect(items.find(({ name }) => name === 'hints')?.tools).to.deep.equal([
      { name: 'search', annotations: { readOnlyHint: true, destructiveHint: false } },
    ]);
  });

  it('creates a new version for a changed manifest and keeps an edited policy_yaml and system_md', async () => {
    await register(service, { name: 'news', tools: ['search'], system_md: 'as registered' });
    const edited = policyText('edited in the dashboard');
    await save(service, 'news', { policy_yaml: edited, system_md: 'as edited' });
    const registered = await register(service, {
      name: 'news',
      tools: ['search', 'more'],
      system_md: 'registered again',
    });
    const fetched = await jsonOf<FetchedAgent>(fetchAgent(service, 'news'));

    expect(registered.status).to.equal(200);
    expect(await jsonOf(registered)).to.include({ version: 3, created: false });
    expect(fetched).to.include({ version: 3, policy_yaml: edited, system_md: 'as edited' });
    expect(fetched.agent_yaml).to.equal('name: news\ntools:\n  - name: search\n  - name: more\n');
  });

  it('stores a given agent_yaml, and creates a version for a new one', async () => {
    await register(service, { name: 'yaml', tools: ['a'], agent_yaml: 'one: 1\n' });
    expect(await jsonOf(fetchAgent(service, 'yaml'))).to.include({ agent_yaml: 'one: 1\n', system_md: '' });

    const second = await jsonOf<SavedAgent>(
      register(service, { name: 'yaml', tools: ['a'], agent_yaml: 'two: 2\n' }),
    );

    expect(second.version).to.equal(2);
    expect(await jsonOf(fetchAgent(service, 'yaml'))).to.include({ agent_yaml: 'two: 2\n' });
  });

  it('keeps an edited policy_yaml through 20 concurrent registrations', async () => {
    await register(service, { name: 'crowd', tools: ['search'] });
    const edited = policyText('mine');
    await save(service, 'crowd', { policy_yaml: edited });
    const crowd = Array.from({ length: 20 }, (_, i) =>
      register(service, { name: 'crowd', tools: ['search', `tool-${i}`] }),
    );
    const saved = await Promise.all(crowd.map((response) => jsonOf<SavedAgent>(response)));

    expect(saved.map(({ version }) => version).sort((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 20 }, (_, i) => i + 3),
    );
    expect(await jsonOf(fetchAgent(service, 'crowd'))).to.include({ policy_yaml: edited, version: 22 });
  });

  it('creates one agent for 20 concurrent first registrations', async () => {
    const crowd = Array.from({ length: 20 }, () => register(service, { name: 'at-once', tools: ['search'] }));
    const responses = await Promise.all(crowd);
    const saved = await Promise.all(responses.map((response) => jsonOf<SavedAgent>(response)));

    expect(responses.filter(({ status }) => status === 201)).to.have.length(1);
    expect(new Set(saved.map(({ agent_version_id }) => agent_version_id)).size).to.equal(1);
  });

  const names: [string, unknown, number][] = [
    ['200 characters', 'é'.repeat(200), 201],
    ['201 characters', 'x'.repeat(201), 422],
    ['no character', '', 422],
    ['a slash', 'a/b', 422],
    ['a single dot', '.', 422],
    ['two dots', '..', 422],
    ['three dots', '...', 201],
    ['a control character', 'a\nb', 422],
    ['a space, a quote and an emoji', 'a "b" 🤖', 201],
    ['the name of a property that every object has', '__proto__', 201],
    ['a number', 7, 422],
  ];
  for (const [title, name, status] of names) {
    it(`answers ${status} to a name with ${title}`, async () => {
      const response = await register(service, { name, tools: ['a'] });

      expect(response.status).to.equal(status);
      if (status === 201) expect((await fetchAgent(service, String(name))).status).to.equal(200);
      else expect(await outcomeOf(response)).to.deep.equal({ status: 422, code: 'body_invalid' });
    });
  }

  it('refuses tools that a policy cannot name: "*", an empty name, more than 128 bytes, more than 256 tools', async () => {
    const bad = [
      ['*'],
      [''],
      ['é'.repeat(65)],
      Array.from({ length: 257 }, (_, i) => `t${i}`),
      'search',
      [{}],
      undefined,
    ];
    for (const tools of bad) {
      expect(await outcomeOf(await register(service, { name: 'bad', tools }))).to.deep.equal({
        status: 422,
        code: 'body_invalid',
      });
    }
    expect((await fetchAgent(service, 'bad')).status).to.equal(404);
  });

  for (const [tool, path, message] of [
    [{ name: 'x', description: null }, '/tools/0/description', 'must be string, not null'],
    [{ annotations: {} }, '/tools/0/name', 'is required'],
    [5, '/tools/0', 'must be string, not number'],
  ] as const)
    it(`reports for the tool ${JSON.stringify(tool)} that ${path} ${message}`, async () => {
      const response = await register(service, { name: 'bad', tools: [tool] });

      expect(await response.json()).to.deep.include({ detail: `${path} ${message}` });
    });

  it('registers a first manifest of 256 tools of 128 bytes', async () => {
    const tools = Array.from({ length: 256 }, (_, index) => String(index).padStart(128, 't'));

    expect((await register(service, { name: 'large', tools })).status).to.equal(201);
  });

  it('answers 401 without a valid key', async () => {
    expect((await register(service, { name: 'x', tools: [] }, { key: 'nonsense' })).status).to.equal(401);
  });
});
