import { expect } from 'chai';
import { keyWith } from '../../support/keys.ts';
import type { World } from './world.ts';

/** The policy that an agent would fetch. */
export async function fetchPolicy({ service: { url, demo } }: World, agent: string) {
  const answer = await fetch(`${url}/v1/agents/${agent}`, {
    headers: { Authorization: `Bearer ${demo.key}` },
  });
  const { policy_yaml } = (await answer.json()) as { policy_yaml: string };
  return { etag: answer.headers.get('ETag'), policy: policy_yaml };
}

/** Like another member: saves the current policy with a line added. */
export async function savePolicy(world: World, agent: string, line: string): Promise<void> {
  const { url, demo, dataDir } = world.service;
  const key = await keyWith({ dataDir, key: demo.key }, { scope: 'edit_policy' });
  const { policy } = await fetchPolicy(world, agent);
  const answer = await fetch(`${url}/v1/projects/${demo.project_id}/agents/${agent}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ policy_yaml: policy + line }),
  });
  expect(answer.status).to.equal(200);
}
