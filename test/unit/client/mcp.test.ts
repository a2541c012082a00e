import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'chai';
import { governMcpClient, type McpRun } from '../../../client/adapters/mcp.ts';
import { shutdown, type ApprovalRequest } from '../../../client/index.ts';
import { captureLogger } from '../../support/capture-logger.ts';
import { bodiesOf, DECISIONS, startAuditServer } from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { conditionally, policyYaml } from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';

const SERVER = fileURLToPath(new URL('../../support/mcp-server.ts', import.meta.url));

describe('@gatehouse/client/mcp, with a real server process', () => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  afterEach(() => shutdown());
  const mock = forEachTest(startAuditServer);

  before(async () => {
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER] }));
  });

  after(() => client.close());

  const bind = (onApproval?: (request: ApprovalRequest) => boolean, logger = captureLogger()) =>
    governMcpClient(client, {
      agentName: 'support-bot',
      policy: policyYaml({ allow: ['search'] }),
      apiKey: 'k',
      baseUrl: mock.url,
      onApproval,
      logger,
    });

  describe('refreshes', () => {
    const platform = forEachTest(startPolicyWorld);
    const bound = (more: object = {}) => {
      const { key, logger, mock: service } = platform;
      return governMcpClient(client, {
        agentName: 'support-bot',
        key,
        baseUrl: service.url,
        logger,
        ...more,
      });
    };
    const refreshes = (): number => platform.mock.seen(AGENT_ROUTE).length - 1;
    const unseen = (): number =>
      platform.logger.at('warn').filter((message) => message.startsWith('No conversation was seen')).length;
    const write = { name: 'write', arguments: { path: '/etc' } };

    it('at the top of each conversation, which listTools begins', async () => {
      const governed = await bound();
      expect((await governed.listTools()).tools.map(({ name }) => name)).to.include('write');
      expect(await governed.callTool(write).catch((error: Error) => error.name)).to.equal(
        'PolicyDeniedError',
      );
      platform.mock.on(AGENT_ROUTE, conditionally(platform.v2));
      expect(await governed.callTool(write).catch((error: Error) => error.name)).to.equal(
        'PolicyDeniedError',
      );
      await governed.listTools({});
      await governed.listTools({ cursor: 'the next page' });

      expect((await governed.callTool(write)).content).to.deep.equal([{ type: 'text', text: 'written' }]);
      expect(refreshes()).to.equal(2);
      expect(unseen()).to.equal(0);
    });

    it('at the first call of a caller that begins no conversation, and logs that', async () => {
      const governed = await bound();
      platform.mock.on(AGENT_ROUTE, conditionally(platform.v2));
      await Promise.all([governed.callTool(write), governed.callTool(write)]);

      expect(refreshes()).to.equal(1);
      expect(unseen()).to.equal(1);
    });

    it('and makes no call while it cannot', async () => {
      const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search', 'write'] }));
      const governed = await bound({ localPolicy });
      const before = await callsSoFar();
      await writeFile(localPolicy, '');
      const fault = await governed.callTool(write).catch((error: Error) => error.name);
      expect(await governed.listTools().catch((error: Error) => error.name)).to.equal('PolicyError');
      await writeFile(localPolicy, policyYaml({ allow: ['search', 'write'] }));

      expect(fault).to.equal('PolicyError');
      expect(await callsSoFar()).to.deep.equal(before);
      expect((await governed.callTool(write)).content).to.deep.equal([{ type: 'text', text: 'written' }]);
    });
  });

  const callsSoFar = async (): Promise<unknown> => (await client.callTool({ name: 'calls' })).content;

  const faultOf = (run: McpRun<Client>, name: string, args: Record<string, unknown>): Promise<unknown> =>
    run.callTool({ name, arguments: args }).then(
      () => expect.fail('the call went through'),
      (error: unknown) => error,
    );

  const outcomes = async (): Promise<unknown[]> => {
    await shutdown();
    return mock.seen(DECISIONS).map(({ text }) => (JSON.parse(text) as { outcome: unknown }).outcome);
  };

  it('waits for an approval', async () => {
    const refused = await (await bind(() => false)).startRun();
    const approved = await (await bind(() => true)).startRun();

    expect(await faultOf(refused, 'transfer', { amount: 1 })).to.include({ name: 'ApprovalRequiredError' });
    expect((await approved.callTool({ name: 'transfer', arguments: { amount: 2 } })).content).to.deep.equal([
      { type: 'text', text: 'sent 2' },
    ]);
    expect(await outcomes()).to.deep.equal(['needs_approval', 'needs_approval']);
  });

  it('makes the call that was decided, even if the caller’s object changes', async () => {
    const params = { name: 'transfer', arguments: { amount: 1 } as Record<string, unknown> };
    const onApproval = (): boolean => {
      Object.assign(params, { name: 'write', arguments: { path: '/etc' } });
      return true;
    };
    const run = await (await bind(onApproval)).startRun();

    expect((await run.callTool(params)).content).to.deep.equal([{ type: 'text', text: 'sent 1' }]);
  });

  it('decides and records under the prefix of the server, and calls the tool by its own name', async () => {
    const policy =
      'version: 1\ntools: [files__search]\nroles: { "*": { allow: [files__search] } }\nrules: []\n';
    const options = { agentName: 'support-bot', policy, apiKey: 'k', baseUrl: mock.url };
    const governed = await governMcpClient(client, { ...options, toolPrefix: 'files__' });
    const run = await governed.startRun();
    const search = { name: 'search', arguments: { query: 'cats' } };
    const found = await run.callTool(search);
    const refused = await run.client.callTool({ name: 'write', arguments: { path: '/' } });
    const odd = { ...search, name: { toString: () => 'search' } as unknown as string };

    expect(found.content).to.deep.equal([{ type: 'text', text: 'found cats' }]);
    expect(await run.client.callTool(search)).to.deep.equal(found);
    expect(JSON.stringify(refused)).to.include('files__write is denied');
    expect(await run.callTool(odd).catch((error: Error) => error.name)).to.equal('PolicyDeniedError');
    await shutdown();
    const tools = bodiesOf(mock, DECISIONS).map(({ tool_name }) => tool_name);
    const oddName = `{"toString":"() => 'search'"}`;
    expect(tools).to.have.members(['files__search', 'files__write', 'files__search', oddName]);
  });

  it('a client for frameworks is otherwise the official one, and cannot bypass the policy', async () => {
    const { client: governed } = await (await bind()).startRun();
    const before = await callsSoFar();
    const write = { name: 'write', arguments: { path: '/etc' } };
    const refused = await Client.prototype.callTool.call(governed, write);

    expect(governed).to.be.instanceOf(Client);
    expect((await governed.listTools()).tools).to.have.length(4);
    expect(governed.getServerVersion()).to.deep.equal(client.getServerVersion());
    expect(refused.isError).to.equal(true);
    expect(governed.experimental).to.equal(undefined);
    expect(Reflect.get(governed, 'requestStream')).to.equal(undefined);
    expect(await callsSoFar()).to.deep.equal(before);
  });

  it('warns of tools of the server that are absent from the policy', async () => {
    const logger = captureLogger();
    await bind(undefined, logger);

    expect(logger.at('warn')).to.deep.equal(['Tools absent from the policy are denied: calls']);
  });
});
