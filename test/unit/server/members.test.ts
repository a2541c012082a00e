import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { mayManage, type Role, ROLES } from '../../../server/rights.ts';
import { KeyedMutex } from '../../../server/keyed-mutex.ts';
import { Members } from '../../../server/members/members.ts';
import { Projects } from '../../../server/projects/projects.ts';
import { type BoundedStore, createBoundedStore } from '../../../server/store/bounded-store.ts';
import type { Store } from '../../../server/store/store.ts';
import { openStore } from '../../support/engine.ts';

describe('who manages members of which role', () => {
  const expected: Record<Role, Role[]> = {
    viewer: [],
    editor: [],
    admin: ['viewer', 'editor'],
    owner: ['viewer', 'editor', 'admin', 'owner'],
  };
  for (const role of ROLES) {
    it(`${role}: ${expected[role].join(', ') || 'none'}, both before and after a change`, () => {
      for (const before of ROLES)
        for (const after of ROLES)
          expect(mayManage(role, [before, after]), `${before} > ${after}`).to.equal(
            expected[role].includes(before) && expected[role].includes(after),
          );
    });
  }
});

describe('Members', () => {
  let store: Store;
  let bounded: BoundedStore;
  let projects: Projects;
  let members: Members;
  before(async () => {
    store = await openStore();
    bounded = createBoundedStore(store.accounts, store.ready);
    const shared = { store: bounded, mutex: new KeyedMutex(bounded), now: Date.now };
    projects = new Projects(shared);
    members = new Members(shared);
  });
  after(() => store.close());

  const newProject = async (ownerId?: string) => (await projects.create(randomUUID(), ownerId)).id;
  const rolesIn = async (projectId: string) =>
    Object.fromEntries((await members.list(projectId)).map(({ account_id, role }) => [account_id, role]));

  it('makes members from before roles admins, and leaves the owner of a project its owner', async () => {
    const projectId = await newProject('ann');
    const row = { project_id: projectId, changed_by: '', changed_at: '2026-01-01 00:00:00.000', version: 1 };
    for (const account_id of ['ann', 'bob', 'cem'])
      await bounded.append({
        table: 'project_members',
        values: { account_id, is_member: account_id === 'cem' ? 0 : 1, ...row },
      });

    expect(await rolesIn(projectId)).to.deep.equal({ ann: 'owner', bob: 'admin' });
    const found = ['ann', 'bob', 'cem', 'dan'].map((id) => members.roleOf(projectId, id));
    expect(await Promise.all(found)).to.deep.equal(['owner', 'admin', undefined, undefined]);
    const [, bob] = await members.list(projectId);
    expect(bob?.added_at).to.equal('2026-01-01T00:00:00.000Z');
    expect((await projects.listOf('bob')).map(({ id }) => id)).to.deep.equal([projectId]);
    expect(await projects.listOf('cem')).to.deep.equal([]);
  });

  it('lets the members of a project without an owner change and leave', async () => {
    const projectId = await newProject();
    const membership = { projectId, accountId: 'ann', changedBy: '' };

    await members.change(membership, () => 'admin');
    await members.change(membership, () => 'viewer');
    expect(await rolesIn(projectId)).to.deep.equal({ ann: 'viewer' });
    await members.change(membership, () => undefined);
    expect(await rolesIn(projectId)).to.deep.equal({});
  });
});
