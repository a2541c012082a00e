import { expect } from 'chai';
import { call, codeOf, jsonOf, newPerson, type Person } from '../support/accounts.ts';
import { ingest, issue, type Key, keysPath, revoke } from '../support/keys.ts';
import { useSharedService } from '../support/shared-service.ts';

describe('POST, GET and DELETE /v1/projects/{id}/keys', () => {
  const service = useSharedService();
  let ann: Person;
  before(async () => {
    ann = await newPerson(service);
  });

  it('issue a key that records into the project, and show it only once', async () => {
    const response = await call(service, keysPath(ann), { cookie: ann.cookie, body: { name: 'ci' } });
    const issued = await jsonOf<Key>(response);

    expect([response.status, response.headers.get('Cache-Control')]).to.deep.equal([
      201,
      'private, no-store',
    ]);
    expect(Object.keys(issued)).to.deep.equal(['key_id', 'name', 'key', 'scope', 'created_at', 'expires_at']);
    expect(issued).to.include({ name: 'ci', scope: 'emit_audit read_audit', expires_at: null });
    expect(await ingest(service, issued.key)).to.equal(202);
    const list = await call(service, keysPath(ann), { cookie: ann.cookie });
    const { key, ...shown } = issued;
    const text = await list.text();
    expect((JSON.parse(text) as { items: Key[] }).items).to.deep.include({
      ...shown,
      revoked_at: null,
      created_by: ann.email,
    });
    expect(text).not.to.contain(key);
  });

  it('issue a key without a name and one that expires', async () => {
    const [plain, expiring] = [await issue(service, ann), await issue(service, ann, { expires_in_days: 30 })];

    expect(plain.name).to.equal('');
    const lifetimeMs = Date.parse(expiring.expires_at ?? '') - Date.parse(expiring.created_at);
    expect(lifetimeMs).to.equal(30 * 24 * 60 * 60 * 1000);
  });

  const bad: unknown[] = [
    { expires_in_days: 0 },
    { expires_in_days: -1 },
    { expires_in_days: 1.5 },
    { expires_in_days: '30' },
    { expires_in_days: 36_501 },
    { name: 'x'.repeat(101) },
    { name: 7 },
    [],
  ];
  for (const body of bad) {
    it(`answer 422 for ${JSON.stringify(body).slice(0, 40)}`, async () => {
      const response = await call(service, keysPath(ann), { cookie: ann.cookie, body });

      expect([response.status, await codeOf(response)]).to.deep.equal([422, 'body_invalid']);
    });
  }

  it('revoke a key: the next request fails, and the list shows when', async () => {
    const { key, key_id } = await issue(service, ann);
    const before = await ingest(service, key);

    const end = async () => (await revoke(service, ann, key_id)).status;
    const statuses = [await end(), await ingest(service, key), await end()];

    expect([before, ...statuses]).to.deep.equal([202, 204, 401, 204]);
    const { items } = await jsonOf<{ items: Key[] }>(call(service, keysPath(ann), { cookie: ann.cookie }));
    expect(items.find((item) => item.key_id === key_id)?.revoked_at).to.match(/^\d{4}-.*Z$/);
  });

  it('answer 404 for a key that is unknown or of another project', async () => {
    const bob = await newPerson(service);
    const { key_id, key } = await issue(service, bob);

    for (const id of ['none', key_id, '%00']) {
      const response = await revoke(service, ann, id);
      expect([response.status, await codeOf(response)]).to.deep.equal([404, 'not_found']);
    }
    expect(await ingest(service, key)).to.equal(202);
  });
});
