import { expect } from 'chai';
import { POLICY_TASKS_OF_PROJECT_MAX } from '../../server/limits.ts';
import { jsonOf, newPerson } from '../support/accounts.ts';
import { checkDraft, policyText, register, save } from '../support/agents.ts';
import { sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { issue } from '../support/keys.ts';
import { rssMb } from '../support/rss.ts';
import { useSharedService } from '../support/shared-service.ts';
import { watchWaits } from '../support/waits.ts';

// In a separate file that runs alone: it keeps the processors busy and measures how long an answer takes.

const TEXT_BYTES = 64 * 1024;
/** Each takes up to a second of processor time to parse. */
const HOSTILE = [`[${','.repeat(TEXT_BYTES - 1)}`, '"'.repeat(TEXT_BYTES), 'a: b\n'.repeat(TEXT_BYTES / 5)];
const WAIT_MS_MAX = 400;

describe('hostile policy texts', () => {
  const service = useSharedService();

  it('hold up no other request, in a save and in a check', async () => {
    await register(service, { name: 'victim', tools: ['search'] });
    const waits = watchWaits(`${service.url}/healthz`);
    const answers = await Promise.all(
      HOSTILE.flatMap((policy_yaml) => [
        save(service, 'victim', { policy_yaml }),
        checkDraft(service, 'victim', { policy_yaml }),
      ]),
    );
    const { slowestMs, count } = await waits.end();

    expect(slowestMs).to.be.below(WAIT_MS_MAX);
    expect(count).to.be.above(10);
    for (const { status } of answers) expect(status).to.be.oneOf([200, 422, 503]);
    expect(answers.filter(({ status }) => status !== 503)).not.to.deep.equal([]);
  });

  it('of one project do not keep another project from saving', async () => {
    const other = await newPerson(service);
    const { key } = await issue(service, other, { scope: 'emit_audit edit_policy' });
    await register(service, { name: 'calm', tools: ['search'] }, { key });
    const flood = Array.from({ length: POLICY_TASKS_OF_PROJECT_MAX + 8 }, () =>
      checkDraft(service, 'x', { policy_yaml: HOSTILE[0] }),
    );

    const startMs = performance.now();
    const saved = await save(
      service,
      'calm',
      { policy_yaml: policyText('calm') },
      { key, projectId: other.project.id },
    );
    const ms = performance.now() - startMs;
    const statuses = (await Promise.all(flood)).map(({ status }) => status);

    expect(saved.status).to.equal(200);
    expect(ms).to.be.below(4_000);
    expect(statuses).to.include(503);
  });
});

describe('the replay of large records', () => {
  const service = useSharedService();
  const RECORDS = 2_300;
  const GROWTH_MB_MAX = 120;

  before('records of 8 KiB, many of one moment', async () => {
    const times = [0, -1000, -1000, -2000].map(timeFromNow);
    const send = async (index: number) => {
      const args = { text: 'x'.repeat(8_000), index };
      const occurred_at = times[index % times.length];
      await sendDecision(
        service,
        decisionEvent({
          agent_name: 'heavy',
          tool_name: 'search',
          outcome: 'allow',
          occurred_at,
          arguments: args,
        }),
      );
    };
    for (let from = 0; from < RECORDS; from += 100)
      await Promise.all(Array.from({ length: 100 }, (_, index) => send(from + index)));
  });

  it('decides each once, in bounded memory, and holds up no other request', async () => {
    const draft = { policy_yaml: policyText('replay', 'other'), replay: { limit: 10_000 } };
    // The first page starts the threads and fills the caches of the engine.
    const page = { ...draft, replay: { limit: 500 } };
    await Promise.all([1, 2].map(() => checkDraft(service, 'heavy', page)));
    const beforeMb = rssMb(service.pid);
    const waits = watchWaits(`${service.url}/healthz`, () => rssMb(service.pid));
    // A project has one thread, so two at once would also run one after the other.
    const check = () => jsonOf<{ replay: object }>(checkDraft(service, 'heavy', draft));
    const [first, second] = [await check(), await check()];
    const { slowestMs, peak } = await waits.end();

    expect(first.replay).to.deep.include({ examined: RECORDS, replayed: RECORDS, changed: RECORDS });
    expect(second).to.deep.equal(first);
    expect(slowestMs).to.be.below(WAIT_MS_MAX);
    expect(peak - beforeMb).to.be.below(GROWTH_MB_MAX);
  });
});

describe('the versions of an agent with large tools', () => {
  const service = useSharedService();
  const VERSIONS = 30;
  const READERS = 8;

  before('versions of almost 1 MiB', async function () {
    this.timeout(120_000);
    const tools = Array.from({ length: 250 }, (_, index) => ({
      name: `tool-${index}`,
      description: 'x'.repeat(3_950),
    }));
    await register(service, { name: 'large', tools });
    for (let version = 2; version <= VERSIONS; version += 1)
      expect((await save(service, 'large', { system_md: `version ${version}` })).status).to.equal(200);
  });

  for (const path of ['agents', 'agents/large/versions', 'agents/large/versions/1', 'agents/large/fleet'])
    it(`hold up no registration while strangers read ${path}`, async () => {
      const gone = new AbortController();
      const url = `${service.url}/v1/projects/${service.project_id}/${path}`;
      const reading = Array.from({ length: READERS }, () => fetch(url, { signal: gone.signal }));
      // Answered after the reads have begun.
      await fetch(`${service.url}/healthz`);

      const { status } = await register(service, { name: `beside ${path.replaceAll('/', ' ')}`, tools: [] });
      gone.abort();
      await Promise.allSettled(reading);

      expect(status).to.equal(201);
    });
});
