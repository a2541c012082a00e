// From nothing to a decision in the dashboard. Needs only a service: `make run` starts one on http://localhost:8000, else set GATE_BASE_URL.
// It makes an account with a key, registers an agent, runs it, and prints where its decisions are. A program of yours gets its key from
// the page Keys of the dashboard, in GATE_KEY and GATE_API_KEY.
import { ApprovalRequiredError, govern, registerAgent, shutdown } from '@gatehouse/client';

const baseUrl = process.env.GATE_BASE_URL ?? 'http://localhost:8000';
const account = { email: `${crypto.randomUUID()}@example.com`, password: crypto.randomUUID() };

let cookie = '';
async function call(path, body) {
  const options = body && { method: 'POST', body: JSON.stringify(body) };
  const headers = { 'Content-Type': 'application/json', Cookie: cookie };
  const response = await fetch(`${baseUrl}${path}`, { ...options, headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  cookie ||= response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return response.json();
}

await call('/v1/auth/register', account);
await call('/v1/auth/login', account);
const { projects: [project] } = await call('/v1/auth/me'); // prettier-ignore
const { key } = await call(`/v1/projects/${project.id}/keys`, { name: 'from zero' });

const agent = {
  name: 'support-bot',
  tools: {
    search: ({ query }) => `3 results for ${query}`,
    transfer: ({ amount }) => `sent ${amount}`,
  },
  async run({ tools }, task) {
    console.log(await tools.search({ query: task }));
    try {
      await tools.transfer({ amount: 10 });
    } catch (error) {
      if (!(error instanceof ApprovalRequiredError)) throw error;
      console.log(error.message);
    }
  },
};

// The first policy lets tools run that only read; the others need an approval.
await registerAgent({
  agentName: agent.name,
  tools: [{ name: 'search', annotations: { readOnlyHint: true } }, 'transfer'],
  policyKey: key,
  baseUrl,
});
const governed = await govern(agent, { policyKey: key, auditKey: key, baseUrl, batch: true });
await governed.run('late parcels', { role: 'editor', userId: 'user-1' });
await shutdown();

console.log(`decisions: ${baseUrl}/projects/${project.id}/decisions`);
console.log(`policy: ${baseUrl}/projects/${project.id}/agents/${agent.name}`);
console.log(`sign in: ${account.email} ${account.password}`);
