import { expect } from 'chai';
import { governTools } from '../../../client/adapters/ai-sdk.ts';
import { governHooks } from '../../../client/adapters/claude-agent-sdk.ts';
import { governMiddleware } from '../../../client/adapters/langchain.ts';
import { governAgent } from '../../../client/adapters/mastra.ts';
import { governMcpClient } from '../../../client/adapters/mcp.ts';
import { governTools as governOpenAiTools } from '../../../client/adapters/openai-agents.ts';
import {
  bindPolicy,
  configure,
  govern,
  PolicyDeniedError,
  registerAgent,
  resolvePolicy,
  shutdown,
  ValueError,
} from '../../../client/index.ts';
import { policyYaml } from '../../support/platform.ts';
import { startPolicyWorld } from '../../support/policy-world.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { temporaryFile } from '../../support/temporary-file.ts';

const POLICY = policyYaml({ allow: ['search'] });

type Given = Parameters<typeof govern>[0];
const agentWith = (tools: unknown) => ({ name: 'bot', tools, run: () => 'ran' }) as Given;
const faultOf = async (start: () => unknown): Promise<Error> => {
  try {
    await start();
  } catch (error) {
    return error as Error;
  }
  return expect.fail('it was taken');
};

describe('options', () => {
  const world = forEachTest(startPolicyWorld);
  // A key keeps its first base URL until then.
  afterEach(() => shutdown());

  for (const [given, meant] of Object.entries({
    onAproval: 'onApproval',
    user_id: 'userId',
    apikey: 'apiKey',
    localpolicy: 'localPolicy',
    policy_key: 'policyKey',
  })) {
    it(`${given}: an error that suggests what was meant, ${meant}`, async () => {
      const options = { [given]: 'x' } as object;
      const starts = [
        () => configure(options),
        () => govern(agentWith({}), options),
        () => resolvePolicy({ agentName: 'bot', ...options }),
        () => bindPolicy({ agentName: 'bot', ...options }),
        () => governTools({}, { agentName: 'bot', ...options }),
      ];
      for (const start of starts) {
        const fault = await faultOf(start);
        expect(fault).to.be.instanceOf(ValueError);
        expect(fault.message).to.match(new RegExp(`has no option ${given}; did you mean ${meant}\\?$`));
      }
    });
  }

  for (const [name, value, message] of [
    ['timeoutMs', Number.NaN, 'timeoutMs must be of type number, not NaN'],
    ['timeoutMs', '5000', 'timeoutMs must be of type number, not string'],
    ['publicKey', 5, 'publicKey must be of type string or object, not number'],
    ['batch', [], 'batch must be of type boolean or object, not array'],
    ['toolNames', 'search', 'toolNames must be of type array, not string'],
  ] as const) {
    it(`${name}: ${JSON.stringify(value)} is an error that says which type it must have`, async () => {
      const options = { [name]: value } as object;
      for (const start of [() => configure(options), () => resolvePolicy({ agentName: 'bot', ...options })]) {
        const fault = await faultOf(start);
        expect(fault).to.be.instanceOf(ValueError);
        expect(fault.message).to.match(new RegExp(`^(configure|resolvePolicy): ${message}$`));
      }
    });
  }

  for (const timeoutMs of [0, -1, -Infinity])
    it(`a timeoutMs of ${timeoutMs}, within which nothing could be answered, is an error`, async () => {
      for (const start of [
        () => configure({ timeoutMs }),
        () => resolvePolicy({ agentName: 'bot', timeoutMs }),
      ]) {
        const fault = await faultOf(start);
        expect(fault).to.be.instanceOf(ValueError);
        expect(fault.message).to.contain('timeoutMs must be a number of milliseconds above 0');
      }
    });

  it('a timeoutMs of shutdown that is no number is an error, and not a wait of no time', async () => {
    for (const timeoutMs of [Number.NaN, 'soon'] as number[]) {
      const fault = await faultOf(() => shutdown({ timeoutMs }));
      expect(fault).to.be.instanceOf(ValueError);
      expect(fault.message).to.match(/^shutdown: timeoutMs must be of type number, not /);
    }
  });

  it('an option of batch that does not exist is an error that names those that do', async () => {
    const fault = await faultOf(() => configure({ apiKey: 'k', batch: { maxEvent: 3 } as object }));
    expect(fault).to.be.instanceOf(ValueError);
    expect(fault.message).to.equal('batch has no option maxEvent; it has maxEvents, maxWaitMs, maxPending');
  });

  for (const [of, take] of Object.entries<(options: never) => unknown>({
    configure,
    resolvePolicy,
    bindPolicy,
    govern: (options) => govern(agentWith({}), options),
    registerAgent,
    governAgent,
    governHooks,
    governMcpClient: (options) => governMcpClient({} as never, options),
    governMiddleware,
    governTools: (options) => governTools({}, options),
    'governTools of openai-agents': (options) => governOpenAiTools([], options),
  })) {
    it(`${of} given something else says that it takes an object of options`, async () => {
      for (const options of ['bot', null, ['bot']]) {
        const fault = await faultOf(() => take(options as never));
        expect(fault).to.be.instanceOf(ValueError);
        expect(fault.message).to.equal(`${of.split(' ', 1)[0]} takes an object of options`);
      }
    });
  }

  it('of a run that are not an object are an error, null are none, and a role of null is not the default one', async () => {
    const binding = await bindPolicy({ agentName: 'bot', policy: POLICY, role: 'analyst' });

    expect((await faultOf(() => binding.startRun('bot' as never))).message).to.equal(
      'A run takes an object of options',
    );
    const outcomeOf = (options: unknown) => binding.startRunSync(options as never).decide('search').outcome;
    expect([outcomeOf(null), outcomeOf({ role: null })]).to.deep.equal(['allow', 'deny']);
  });

  it('a call without a function, and names of tools that are no list, are errors that say what to give', async () => {
    const run = await (await bindPolicy({ agentName: 'bot', policy: POLICY })).startRun();
    const faults = [
      await faultOf(() => run.call('search', {}, undefined as never)),
      await faultOf(() => run.tools('search' as never)),
      await faultOf(() => governMcpClient({} as never, { agentName: 'bot', policy: POLICY })),
    ];

    for (const fault of faults) expect(fault).to.be.instanceOf(ValueError);
    expect(faults.map(({ message }) => message)).to.deep.equal([
      'A call takes the name of a tool, its arguments, and a function that executes it',
      'The names of tools must be of type array, not string',
      'governMcpClient takes an MCP client, which has callTool and listTools',
    ]);
    expect(run.tools(null as never)).to.deep.equal([]);
  });

  it('a tool name of another type is denied, also one that has no text', async () => {
    const run = await (await bindPolicy({ agentName: 'bot', policy: POLICY })).startRun();

    for (const tool of [5, Symbol('search'), Object.create(null)] as string[]) {
      const fault = await faultOf(() => run.call(tool, {}, () => 'ran'));
      expect(fault).to.be.instanceOf(PolicyDeniedError).with.property('violations').deep.equals(['bad_call']);
    }
  });

  it('a caller that is not a function is an error that names the option', async () => {
    const options = { agentName: 'bot', policy: POLICY, caller: { userId: 'ann' } } as never;
    const faults = [
      await faultOf(() => governAgent(options)),
      await faultOf(() => governHooks(options)),
      await faultOf(() => governMiddleware(options)),
      await faultOf(() => governOpenAiTools([], options)),
    ];

    for (const fault of faults) expect(fault).to.be.instanceOf(ValueError);
    expect(faults.map(({ message }) => message)).to.deep.equal(
      ['governAgent', 'governHooks', 'governMiddleware', 'governTools'].map(
        (of) => `${of}: caller must be of type function, not object`,
      ),
    );
  });

  it('a value that is not an agent is an error that says what an agent has', async () => {
    for (const agent of [null, undefined, {}, { tools: {} }]) {
      const fault = await faultOf(() => govern(agent as never));
      expect(fault).to.be.instanceOf(ValueError);
      expect(fault.message).to.match(/^govern takes an agent: \{ name, tools: .*, run: /);
    }
  });

  it('an option similar to no other is an error without a suggestion; an undefined one is ignored', async () => {
    expect((await faultOf(() => configure({ zebra: 1 } as object))).message).to.equal(
      'configure has no option zebra',
    );
    expect(configure({ zebra: undefined } as object).enabled).to.equal(false);
  });

  it('a key may end in a newline, like one read from a file', async () => {
    const { key, mock, logger } = world;
    mock.on('POST /v1/audit/decisions', { status: 202 });
    const options = { agentName: 'support-bot', baseUrl: mock.url, logger };
    const binding = await bindPolicy({ ...options, key: `${key}\n`, apiKey: 'k\n' });
    (await binding.startRun()).decide('search');
    await shutdown();

    expect(binding.source.origin).to.equal('bundle');
    expect(mock.seen('POST /v1/audit/decisions')[0]?.headers).to.include({ authorization: 'Bearer k' });
  });

  it('policyKey is key, and auditKey is apiKey; two values are an error', async () => {
    const { key, mock, logger } = world;
    const binding = await bindPolicy({
      agentName: 'support-bot',
      policyKey: key,
      auditKey: 'k',
      baseUrl: mock.url,
      logger,
    });

    expect(binding.source.origin).to.equal('bundle');
    expect(binding.gate.enabled).to.equal(true);
    expect((await faultOf(() => configure({ apiKey: 'a', auditKey: 'b' }))).message).to.include('auditKey');
    expect(
      (await faultOf(() => bindPolicy({ agentName: 'a', key: 'a', policyKey: 'b' }))).message,
    ).to.include('policyKey');
  });

  it('tools as an array, or tools of the AI SDK, are an error that says what to give', async () => {
    const sdk = { search: { execute: () => 'found' } };

    expect((await faultOf(() => govern(agentWith([])))).message).to.include('an object of functions by name');
    expect((await faultOf(() => govern(agentWith(sdk)))).message).to.match(/^tools\.search .*governTools/);
    const list = [] as unknown as Record<string, never>;
    expect((await faultOf(() => governTools(list, { agentName: 'a' }))).message).to.include('AI SDK tools');
    const plain = { search: () => 'found' } as unknown as Record<string, never>;
    expect((await faultOf(() => governTools(plain, { agentName: 'a' }))).message).to.match(
      /^tools\.search .*inputSchema/,
    );
  });

  it('the path of a policy is not its text', async () => {
    for (const policy of ['policy.yaml', './a b/policy.yml', 'C:\\policy.json']) {
      expect(await faultOf(() => resolvePolicy({ agentName: 'bot', policy }))).to.include({
        code: 'policy_invalid',
        message: `policy is the text of a policy, and ${JSON.stringify(policy)} looks like a path: use localPolicy`,
      });
    }
  });

  it('policy in code beats GATE_LOCAL_POLICY, except in local mode; localPolicy beats both', async () => {
    const GATE_LOCAL_POLICY = await temporaryFile('policy.yaml', POLICY);
    const { resolve } = world;
    const originOf = async (options: object, variables: Record<string, string> = {}): Promise<string> =>
      (await resolve(options, { GATE_LOCAL_POLICY, ...variables })).origin;

    expect(await originOf({ policy: POLICY })).to.equal('built-in');
    expect(await originOf({ policy: POLICY }, { GATE_LOCAL_MODE: '1' })).to.equal('local');
    expect(await originOf({ policy: POLICY, localPolicy: GATE_LOCAL_POLICY })).to.equal('local');
    expect(await originOf({ key: world.key })).to.equal('local');
  });

  it('errors of keys and files name the option or the variable', async () => {
    const { resolve, key } = world;
    const messageOf = async (options: object, variables: Record<string, string> = {}): Promise<string> =>
      (await faultOf(() => resolve(options, variables))).message;
    const client = configure({ apiKey: 'malformed' });

    expect(await messageOf({ key: 'malformed' })).to.match(/\(the option key\)$/);
    expect(await messageOf({ policyKey: 'malformed' })).to.match(/\(the option policyKey\)$/);
    expect(await messageOf({ client })).to.match(/\(the key of the option client\)$/);
    expect(await messageOf({}, { GATE_KEY: 'malformed' })).to.match(/\(GATE_KEY\)$/);
    expect(await messageOf({ key, publicKey: 'x' })).to.match(/\(the option publicKey\)$/);
    expect(await messageOf({}, { GATE_KEY: key, GATE_PUBLIC_KEY: 'x' })).to.match(/\(GATE_PUBLIC_KEY\)$/);
    expect(await messageOf({ localPolicy: '/nowhere' })).to.match(/\(the option localPolicy\)$/);
    expect(await messageOf({}, { GATE_LOCAL_POLICY: '/nowhere' })).to.match(/\(GATE_LOCAL_POLICY\)$/);
  });
});
