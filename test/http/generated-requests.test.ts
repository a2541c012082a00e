import { expect } from 'chai';
import fc from 'fast-check';
import { randomInt, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { newPerson } from '../support/accounts.ts';
import { policyText, register } from '../support/agents.ts';
import { sendDecision } from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { type Generated, requestsFor, tampered, type World } from '../support/generated-requests.ts';
import { issue } from '../support/keys.ts';
import {
  type Answer,
  createAnswerCheck,
  type Document,
  operationsOf,
  readDocument,
} from '../support/openapi.ts';
import { askJson, type CursorPage } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';

const SEED = Number(process.env['GATE_TEST_SEED'] ?? randomInt(2 ** 31));
const REQUESTS_MIN = 2000;
const ANSWER_MS_MAX = 10_000;
const CALLERS = 8;
/** Requests for one operation: fewer if each hashes a password or renders a page, more if they cost little. */
const REQUESTS = 20;
const REQUESTS_FOR: Record<string, number> = {
  register: 10,
  login: 10,
  resetPassword: 10,
  openapi: 5,
  docs: 5,
  docsFile: 5,
  recordDecision: 550,
  recordLlmInvocation: 350,
  fetchPolicy: 250,
  registerAgent: 60,
  requestVerifyToken: 100,
  forgotPassword: 100,
  publicKeys: 50,
};

describe(`requests generated from the OpenAPI document (GATE_TEST_SEED=${SEED})`, () => {
  const service = useSharedService();
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  let document: Document;
  let world: World;
  before(async () => {
    document = await readDocument(service.url);
    world = await createWorld();
  });
  after(() => agent.destroy());

  /** A project with everything that a request can name. */
  async function createWorld(): Promise<World> {
    const person = await newPerson(service);
    const scope = 'emit_audit read_audit edit_policy';
    const { key } = await issue(service, person, { scope });
    const { key_id } = await issue(service, person, { scope });
    const own = { ...service, key, project_id: person.project.id };
    await register(own, { name: 'support-bot', tools: ['search'] });
    for (let count = 0; count < 3; count += 1) await sendDecision(own, decisionEvent());
    const page = await askJson<CursorPage>(own, 'decisions', { query: { limit: '1' } });
    return {
      params: {
        id: person.project.id,
        name: 'support-bot',
        version: '1',
        event_id: String(page.items[0]?.['event_id']),
        key_id,
        account_id: randomUUID(),
        file: 'start.js',
        tile: '0/000.p/1',
      },
      credentials: {
        bearerKey: { Authorization: `Bearer ${key}` },
        session: { Cookie: person.cookie },
        metricsToken: {},
      },
      queries: { cursor: page.next_cursor ?? '' },
      bodies: {
        recordDecision: [decisionEvent(), decisionEvent({ hint: { a: [1] }, arguments: { b: 'c' } })],
        recordLlmInvocation: [llmInvocation()],
        checkPolicy: [
          { policy_yaml: policyText('a'), calls: [{ tool: 'search', arguments: {} }], replay: { limit: 10 } },
          { policy_yaml: `${policyText('b')}  - {id: x}\n` },
        ],
        saveAgent: [{ policy_yaml: policyText('c') }, { system_md: 'x' }],
        verify: [{ token: 'x'.repeat(43) }],
        changeRole: [{ role: 'viewer' }],
      },
    };
  }

  /** Not fetch, which would repair a path. Every caller has its own address, so that none uses up its attempts. */
  function send(method: string, { path, headers, body }: Generated): Promise<Answer> {
    const [hostname, port] = [new URL(service.url).hostname, new URL(service.url).port];
    const from = { 'X-Forwarded-For': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}` };
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    return new Promise((resolve, reject) => {
      const call = request(
        { hostname, port, path, method, headers: { ...from, ...headers }, agent, signal },
        (response) => {
          const status = response.statusCode ?? 0;
          const answered = response.headers as Answer['headers'];
          textOf(response).then((text) => resolve({ status, headers: answered, text }), reject);
        },
      );
      call.on('error', reject).end(body);
    });
  }

  it(`${REQUESTS_MIN} or more, valid, nearly valid and hostile, are answered as the document says, and none with 500`, async function () {
    this.timeout(180_000);
    const faultOf = createAnswerCheck(document);
    const all = operationsOf(document).filter(({ operation }) => operation.operationId !== 'logout');
    const queue = all.flatMap((at) =>
      fc
        .sample(requestsFor(at, world), {
          numRuns: REQUESTS_FOR[at.operation.operationId] ?? REQUESTS,
          seed: SEED,
        })
        .map((generated) => ({ at, generated })),
    );
    const statuses: Record<number, number> = {};
    const faults: string[] = [];
    const caller = async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const { at, generated } = next;
        const said = `${at.method} ${generated.path} ${JSON.stringify(generated.headers)} ${generated.body?.slice(0, 500)}`;
        try {
          const answer = await send(at.method, generated);
          statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
          const fault = isFault(answer) ? answer.text : faultOf(at, answer);
          if (fault !== undefined) faults.push(`${said}\n  → ${answer.status}: ${fault}`);
        } catch (error) {
          faults.push(`${said}\n  → ${String(error)}`);
        }
      }
    };
    const count = queue.length;
    await Promise.all(Array.from({ length: CALLERS }, caller));

    expect(faults.slice(0, 5)).to.deep.equal([]);
    expect(count).to.be.at.least(REQUESTS_MIN);
    // They get past the checks, and are refused for many reasons.
    expect(statuses[200]).to.be.above(count / 10);
    expect(statuses[202]).to.be.above(count / 10);
    expect(Object.keys(statuses).length).to.be.above(8);
  });

  /** A busy machine may delay one of the callers who change the same agent. */
  const isFault = ({ status, text }: Answer) => status >= 500 && !text.includes('"code":"overloaded"');

  it('with a tampered key or cookie get 401, and with a tampered cursor 422 or another position in the list', async () => {
    const { credentials, queries, params } = world;
    const { Authorization = '' } = credentials['bearerKey'] ?? {};
    const { Cookie = '' } = credentials['session'] ?? {};
    const key = Authorization.slice('Bearer '.length);
    const secret = Cookie.slice('gate_session='.length);
    const cursor = queries['cursor'] ?? '';
    const samples = (value: string) =>
      fc.sample(tampered(value), { numRuns: 60, seed: SEED }).filter((text) => text.trim() !== value);
    const list = `/v1/projects/${params['id']}/audit/decisions`;
    const refused = await Promise.all([
      ...samples(key).map((text) =>
        send('GET', get('/v1/agents/support-bot', { Authorization: `Bearer ${text}` })),
      ),
      ...samples(secret).map((text) => send('GET', get('/v1/auth/me', { Cookie: `gate_session=${text}` }))),
    ]);
    const placed = await Promise.all(
      samples(cursor).map((text) => send('GET', get(`${list}?cursor=${encodeURIComponent(text)}`))),
    );

    expect(refused.filter(({ status }) => status !== 401)).to.deep.equal([]);
    expect(placed.filter(({ status }) => status !== 422 && status !== 200)).to.deep.equal([]);
    expect(placed.filter(({ status }) => status === 422).length).to.be.above(placed.length / 2);
    expect([refused.length, placed.length].map((count) => count > 30)).to.deep.equal([true, true]);
  });
});

function get(path: string, headers: Record<string, string> = {}): Generated {
  return { path, headers, body: undefined };
}
