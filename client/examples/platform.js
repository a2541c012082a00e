// An agent under the platform's policy; every decision is recorded. Needs GATE_KEY and GATE_API_KEY (they may be the same
// key), and GATE_BASE_URL unless the service is on http://localhost:8000.
import { govern, shutdown } from '@gatehouse/client';

const agent = {
  name: process.env.AGENT_NAME ?? 'support-bot',
  tools: { search: ({ query }) => `3 results for ${query}` },
  run: ({ tools }, task) => tools.search({ query: task }),
};

const governed = await govern(agent, { bindPolicy: true, batch: true });
console.log(`policy: ${governed.source.origin}, version ${governed.source.agentVersionId}`);
console.log(await governed.run('late parcels', { role: 'admin', userId: 'user-1' }));
await shutdown();
console.log(governed.gate.stats());
