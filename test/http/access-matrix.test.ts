import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ACCESS, type AccessTable, CREDENTIALS, type CredentialName } from '../support/access-table.ts';
import { call, type Call, cookieOf, logIn, newMember, newPerson } from '../support/accounts.ts';
import { DECLARATIONS } from '../support/declarations.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { issue, keyWith, revoke } from '../support/keys.ts';
import { type RunningService, startTestService } from '../support/service.ts';
import { sharedService } from '../support/shared-service.ts';

const ALL = 'emit_audit fetch_policy register_agent read_audit edit_policy';
const IN_FLIGHT = 8;

type Credentials = Record<CredentialName, Call>;

/** Refused by each read with parameters, like the bodies below only after access was checked: the records of a read cost most of its time. */
const QUERY = '?window=x&limit=x';

/** Bodies that change nothing, whoever sends them. They are only evaluated after access was checked. */
const BODIES: Record<string, (() => unknown) | undefined> = {
  'POST /v1/audit/decisions': () => decisionEvent({ agent_name: 'bot' }),
  'POST /v1/audit/llm-invocations': () => llmInvocation({ agent_name: 'bot' }),
  'POST /v1/agents': () => ({ name: 'bot', tools: ['search'] }),
  'PUT /v1/projects/{id}/agents/{name}': () => ({}),
  'POST /v1/projects/{id}/agents/{name}/check': () => ({ policy_yaml: 'version: 1\n' }),
  'PUT /v1/projects/{id}/members/{account_id}': () => ({ role: 'viewer' }),
};

for (const readAuth of ['open', 'required'] as const) {
  const table = ACCESS[readAuth];
  const cells = table.size * CREDENTIALS.length;

  describe(`access with GATE_READ_AUTH=${readAuth}`, () => {
    it('has a row for every endpoint, and a cell for every credential', () => {
      const declared = DECLARATIONS.map(({ method, path }) => `${method} ${path}`);

      expect([...table.keys()]).to.have.members(declared);
      for (const [name, row] of table) expect(row.length, name).to.equal(CREDENTIALS.length);
    });

    it(`is as the table says in all ${cells} cells (${table.size} endpoints, ${CREDENTIALS.length} credentials)`, async () => {
      const own =
        readAuth === 'open' ? undefined : await startTestService({ env: { GATE_READ_AUTH: readAuth } });
      const service = own ?? (await sharedService());
      try {
        const { projectId, credentials } = await makeCredentials(service);
        const actual = await probe(service, { table, projectId, credentials });
        expect(differences(table, actual)).to.deep.equal([]);
      } finally {
        await own?.stop();
      }
    });
  });
}

async function makeCredentials(
  service: RunningService,
): Promise<{ projectId: string; credentials: Credentials }> {
  const [owner, stranger] = [await newPerson(service), await newPerson(service)];
  const keyFor = async (scope: string, more = {}) => (await issue(service, owner, { scope, ...more })).key;
  const [all, revoked] = [await keyFor(ALL), await issue(service, owner, { scope: ALL })];
  await revoke(service, owner, revoked.key_id);
  await call(service, '/v1/agents', { key: all, body: { name: 'bot', tools: ['search'] } });
  const ended = cookieOf(await logIn(service, owner.email));
  await call(service, '/v1/auth/logout', { method: 'POST', cookie: ended });
  const memberWith = async (role: string) => ({ cookie: (await newMember(service, owner, role)).cookie });
  const credentials: Credentials = {
    'no credential': {},
    'an invalid key': { key: `${all}x` },
    'a revoked key': { key: revoked.key },
    'an expired key': { key: await keyWith({ dataDir: service.dataDir, key: all }, { exp: 1_700_000_000 }) },
    'a key of another project': { key: (await issue(service, stranger, { scope: ALL })).key },
    'a key with emit_audit': { key: await keyFor('emit_audit') },
    'a key with fetch_policy': { key: await keyFor('fetch_policy') },
    'a key with register_agent': { key: await keyFor('register_agent') },
    'a key with read_audit': { key: await keyFor('read_audit') },
    'a key with edit_policy': { key: await keyFor('edit_policy') },
    'a key narrowed to another agent': { key: await keyFor(ALL, { agents: ['other'] }) },
    'an ended session': { cookie: ended },
    'the session of a stranger': { cookie: stranger.cookie },
    'the session of a viewer': await memberWith('viewer'),
    'the session of an editor': await memberWith('editor'),
    'the session of an admin': await memberWith('admin'),
    'the session of an owner': { cookie: owner.cookie },
    "an owner's session from another site": {
      cookie: owner.cookie,
      headers: { Origin: 'https://elsewhere.example' },
    },
    "a stranger's session and a key": { cookie: (await newPerson(service)).cookie, key: all },
  };
  return { projectId: owner.project.id, credentials };
}

type Probe = { table: AccessTable; projectId: string; credentials: Credentials };

/** The table as the service behaves. Logging out comes last and in reverse order: it ends the sessions that others need. */
async function probe(
  service: RunningService,
  { table, projectId, credentials }: Probe,
): Promise<AccessTable> {
  const params: Record<string, string> = { id: projectId, name: 'bot', version: '1', file: 'start.js' };
  const actual: AccessTable = new Map([...table.keys()].map((name) => [name, []]));
  const ask = async (name: string, column: number) => {
    const [method = '', path = ''] = name.split(' ');
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, param: string) => params[param] ?? randomUUID());
    const body = method === 'GET' || method === 'DELETE' ? undefined : (BODIES[name]?.() ?? []);
    const credential = credentials[CREDENTIALS[column] as CredentialName];
    const query = method === 'GET' ? QUERY : '';
    const response = await call(service, filled + query, { ...credential, method, body });
    await response.body?.cancel();
    (actual.get(name) ?? [])[column] = cellOf(response.status);
  };
  // The cells of one endpoint are far apart, because an endpoint may refuse calls that wait too long for each other.
  const cells = CREDENTIALS.flatMap((_, column) => [...table.keys()].map((name) => ({ name, column })));
  const waiting = cells.filter(({ name }) => !name.endsWith('/logout'));
  const next = async (): Promise<void> => {
    for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop())
      await ask(cell.name, cell.column);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, next));
  for (const { name, column } of cells.filter((cell) => cell.name.endsWith('/logout')).toReversed())
    await ask(name, column);
  return actual;
}

/** A 503 would say nothing about access. */
function cellOf(status: number): string {
  if (status === 401 || status === 403) return String(status % 10);
  return status < 500 ? '.' : String(status);
}

function differences(expected: AccessTable, actual: AccessTable): string[] {
  return [...expected].flatMap(([name, row]) =>
    row.flatMap((cell, column) => {
      const seen = actual.get(name)?.[column];
      return seen === cell ? [] : [`${name} with ${CREDENTIALS[column]}: ${seen}, not ${cell}`];
    }),
  );
}
