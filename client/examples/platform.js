// Registers an agent and runs it under the platform's policy; every decision is recorded. Needs GATE_KEY and GATE_API_KEY (they may be
// the same key, which `make run` writes to demo.json), and GATE_BASE_URL unless the service is on http://localhost:8000.
import { govern, registerAgent, shutdown } from '@gatehouse/client';

const agent = {
  name: process.env.AGENT_NAME ?? 'support-bot',
  tools: { search: ({ query }) => `3 results for ${query}` },
  run: ({ tools }, task) => tools.search({ query: task }),
};

// May run at each start. A new agent's policy lets tools run that only read; see and change it in the dashboard.
const { version, isNew } = await registerAgent({
  agentName: agent.name,
  tools: [{ name: 'search', annotations: { readOnlyHint: true } }],
});
console.log(isNew ? 'registered' : `registered before, version ${version}`);
const governed = await govern(agent, { bindPolicy: true, batch: true });
console.log(`policy: ${governed.source.origin}, version ${governed.source.agentVersionId}`);
console.log(await governed.run('late parcels', { role: 'admin', userId: 'user-1' }));
await shutdown();
console.log(governed.gate.stats());
