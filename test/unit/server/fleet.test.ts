import { expect } from 'chai';
import { Fleet } from '../../../server/agents/fleet.ts';

const agent = { projectId: 'p', agentName: 'a' };

describe('Fleet', () => {
  it('does not let a key that names many versions evict other keys', () => {
    const fleet = new Fleet(() => 1);
    fleet.seen(agent, { keyId: 'honest', etag: 'v1' });
    for (let i = 0; i < 100_000; i += 1) fleet.seen(agent, { keyId: 'noisy', etag: `random-${i}` });
    const held = fleet.held('p', 'a').versions;

    expect(held).to.have.length(6);
    expect(held.find(({ etag }) => etag === 'v1')).to.include({ keys: 1 });
  });

  it('keeps at most 20,000 keys of all agents, and evicts the least recent', () => {
    const fleet = new Fleet(() => 1);
    for (let i = 0; i < 30_000; i += 1) {
      fleet.seen({ projectId: 'p', agentName: `agent-${i % 50}` }, { keyId: `key-${i}`, etag: 'v1' });
    }
    const keys = Array.from({ length: 50 }, (_, i) => fleet.held('p', `agent-${i}`).keys);

    expect(keys.reduce((sum, count) => sum + count)).to.equal(20_000);
  });

  it('lists every version that the clients of a key hold, for 24 hours', () => {
    let nowMs = 0;
    const fleet = new Fleet(() => nowMs);
    fleet.seen(agent, { keyId: 'k', etag: 'v1' });
    nowMs = 60_000;
    fleet.seen(agent, { keyId: 'k', etag: 'v2' });
    fleet.seen(agent, { keyId: 'l', etag: 'v2' });

    expect(fleet.held('p', 'a')).to.deep.equal({
      keys: 2,
      versions: [
        { etag: 'v2', keys: 2, last_seen: '1970-01-01T00:01:00.000Z' },
        { etag: 'v1', keys: 1, last_seen: '1970-01-01T00:00:00.000Z' },
      ],
    });
    nowMs = 24 * 3_600_000 + 1;
    expect(fleet.held('p', 'a').versions.map(({ etag }) => etag)).to.deep.equal(['v2']);
    nowMs += 24 * 3_600_000;
    expect(fleet.held('p', 'a')).to.deep.equal({ keys: 0, versions: [] });
  });
});
