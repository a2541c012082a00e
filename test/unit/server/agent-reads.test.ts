import { expect } from 'chai';
import { readAgents } from '../../../server/agents/agent-reads.ts';
import { createBoundedStore } from '../../../server/store/bounded-store.ts';
import type { Store } from '../../../server/store/store.ts';
import { openStore } from '../../support/engine.ts';

const PAGE_BYTES_MAX = 1024 * 1024;

describe('readAgents', () => {
  let store: Store;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  /** Saves agents, each in two versions whose tools have the given number of bytes, and resolves with the names and bytes on each page. */
  async function pagesOf(projectId: string, agents: [name: string, bytes: number][]) {
    const bounded = createBoundedStore(store.accounts, store.ready);
    const row = { project_id: projectId, created_at: '2026-01-01 00:00:00.000' };
    const values = agents.flatMap(([agent_name, bytes]) =>
      [1, 2].map((version) => {
        const tools = JSON.stringify([{ name: `${version}`.repeat(bytes) }]);
        return { ...row, agent_name, version, agent_version_id: `v${version}`, tools };
      }),
    );
    if (values.length > 0) await bounded.append({ table: 'agent_versions', values });
    const runRead = store.reads.query.bind(store.reads);
    const pages: { names: string[]; bytes: number[] }[] = [];
    for await (const page of readAgents({ projectId, runRead, signal: new AbortController().signal })) {
      expect(page.every(({ version, tools }) => version === 2 && tools[0]?.name.startsWith('2'))).to.equal(
        true,
      );
      pages.push({
        names: page.map(({ agent_name }) => agent_name),
        bytes: page.map(({ tools }) => tools[0]?.name.length ?? 0),
      });
    }
    return pages;
  }

  it('returns all agents by name, in pages that no number or size of agents makes large', async () => {
    const large = Array.from({ length: 20 }, (_, i) => [`b${i}`, 200_000 + i] as [string, number]);
    const small = Array.from(
      { length: 1200 },
      (_, i) => [`${i % 2 === 0 ? 'a' : 'é'}${i}`, 10] as [string, number],
    );

    const pages = await pagesOf('many', [...large, ...small]);

    const names = [...large, ...small].map(([name]) => name);
    expect(pages.flatMap((page) => page.names)).to.deep.equal(
      names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    for (const { bytes } of pages) {
      expect(bytes.length).to.be.at.most(500);
      expect(bytes.slice(0, -1).reduce((sum, n) => sum + n, 0)).to.be.below(PAGE_BYTES_MAX);
    }
    expect(pages.length).to.be.below(20);
  });

  it('returns no page of a project without agents', async () => {
    expect(await pagesOf('none', [])).to.deep.equal([]);
  });
});
