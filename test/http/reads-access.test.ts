import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { newPerson, type Person } from '../support/accounts.ts';
import { sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { runGate } from '../support/processes.ts';
import { issue, type Key, keyWith, revoke } from '../support/keys.ts';
import { ask, type Problem, refusal } from '../support/reads.ts';
import { sharedService } from '../support/shared-service.ts';
import { useTestService } from '../support/service.ts';

const ENDPOINTS = ['summary', 'timeseries', 'decisions', 'decisions/export', 'llm-usage'];
const OPEN = 'The audit read endpoints are open';
const METRICS_TOKEN = 'scraper-7';

describe('GATE_READ_AUTH=required', () => {
  const service = useTestService({
    env: { GATE_READ_AUTH: 'required', GATE_METRICS_TOKEN: METRICS_TOKEN },
  });
  let project: { project_id: string; key: string };
  let other: Person;
  let revoked: Key;
  before(async () => {
    const owner = await newPerson(service);
    project = { project_id: owner.project.id, key: (await issue(service, owner)).key };
    other = await newPerson(service);
    revoked = await issue(service, owner);
    await revoke(service, owner, revoked.key_id);
    await sendDecision(service, decisionEvent(), { key: project.key });
  });

  it('answers a key of the project with read_audit', async () => {
    for (const endpoint of ENDPOINTS) {
      const { status } = await ask(service, endpoint, { projectId: project.project_id, key: project.key });
      expect(status, endpoint).to.equal(200);
    }
  });

  it('answers the auditor whose key is in GATE_API_KEY, and reports a missing key', async () => {
    const { dataDir, url } = service;
    const args = ['audit', 'verify', '--project', project.project_id, '--url', url];

    const withKey = await runGate({ dataDir, args, env: { GATE_API_KEY: project.key } });
    const without = await runGate({ dataDir, args, env: { GATE_API_KEY: '' } });

    expect(`${withKey.code} ${withKey.stdout}`).to.match(/^0 Verdict: holds\./);
    expect(`${without.code} ${without.stderr}`).to.match(
      /^1 .* answered 401\. .*: GATE_API_KEY=KEY, or --bearer KEY\.\n$/,
    );
  });

  it('is 401 without a key, with a bad one and with a revoked one, before parameters are checked', async () => {
    for (const endpoint of ENDPOINTS) {
      for (const key of [undefined, 'nonsense', `${project.key}x`, revoked.key]) {
        const options = {
          projectId: project.project_id,
          query: 'window=bad',
          ...(key === undefined ? {} : { key }),
        };
        const { status, text, headers } = await ask(service, endpoint, options);
        expect([status, (JSON.parse(text) as Problem).code], endpoint).to.deep.equal([
          401,
          'unauthenticated',
        ]);
        expect(headers.get('www-authenticate')).to.equal('Bearer');
      }
    }
  });

  it('is 403 for a key of another project, whether or not that project exists', async () => {
    for (const endpoint of ENDPOINTS) {
      for (const projectId of [other.project.id, randomUUID(), 'x']) {
        const refused = await refusal(service, endpoint, { projectId, key: project.key });
        expect(refused, endpoint).to.deep.equal([403, 'forbidden']);
      }
    }
  });

  it('is 403 for a key of the project that may only write', async () => {
    const signed = (scope: string) => keyWith({ dataDir: service.dataDir, key: project.key }, { scope });
    const [writeOnly, both] = [await signed('emit_audit'), await signed('emit_audit read_audit')];
    const projectId = project.project_id;

    for (const endpoint of ENDPOINTS) {
      const refused = await refusal(service, endpoint, { projectId, key: writeOnly });
      expect(refused, endpoint).to.deep.equal([403, 'forbidden']);
      expect((await ask(service, endpoint, { projectId, key: both })).status, endpoint).to.equal(200);
    }
    expect((await sendDecision(service, decisionEvent(), { key: writeOnly })).status).to.equal(202);
  });

  it('gives the metrics to the token of GATE_METRICS_TOKEN only', async () => {
    const asked = [undefined, 'wrong', `${METRICS_TOKEN}x`, project.key, METRICS_TOKEN].map((token) => {
      const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      return fetch(`${service.url}/metrics`, { headers });
    });
    const answers = await Promise.all(asked);

    expect(answers.map(({ status }) => status)).to.deep.equal([401, 401, 401, 401, 200]);
    expect(answers[0]?.headers.get('www-authenticate')).to.equal('Bearer');
    expect(await answers[0]?.json()).to.include({ code: 'unauthenticated' });
  });

  it('does not warn at the start that the reads or the metrics are open', () => {
    expect(service.output()).not.to.include(OPEN);
    expect(service.output()).not.to.include('GET /metrics is open');
  });
});

describe('GATE_READ_AUTH=open', () => {
  it('is the default, needs no key, and logs a warning at the start', async () => {
    const service = await sharedService();
    for (const endpoint of ENDPOINTS) expect((await ask(service, endpoint)).status, endpoint).to.equal(200);
    expect(service.output()).to.include(OPEN);
  });
});
