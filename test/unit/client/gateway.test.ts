import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import { useCleanups } from '../../support/cleanups.ts';
import { startAuditServer } from '../../support/emission.ts';
import { eventually } from '../../support/eventually.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { temporaryFile } from '../../support/temporary-file.ts';

const SERVER = fileURLToPath(new URL('../../support/mcp-server.ts', import.meta.url));
const CLI = fileURLToPath(new URL('../../../client/cli.ts', import.meta.url));
const POLICY = [
  'version: 1',
  'tools: [search, write, transfer, calls]',
  'roles: { editor: { allow: [search, calls], approve: [transfer] } }',
  'rules: []',
  '',
].join('\n');
const BATCH = 'POST /v1/audit/decisions/batch';

describe('npx @gatehouse/client mcp, between the official client and a real server', () => {
  const mock = forEachTest(startAuditServer);
  let localPolicy: string;
  let client: Client;
  before(async () => void (localPolicy = await temporaryFile('policy.yaml', POLICY)));
  const { closing } = useCleanups();

  const command = (...server: string[]): string[] => [
    CLI, 'mcp', '--agent', 'support-bot', '--role', 'editor', '--user', 'u-1', '--local-policy', localPolicy, '--', ...server,
  ]; // prettier-ignore
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const env = () => ({ PATH, NODE_COMPILE_CACHE, GATE_API_KEY: 'k', GATE_BASE_URL: mock.url });

  const connect = async (answer?: 'accept' | 'decline'): Promise<void> => {
    const capabilities = answer ? { elicitation: {} } : {};
    client = closing(new Client({ name: 'test', version: '1.0.0' }, { capabilities }));
    if (answer) client.setRequestHandler(ElicitRequestSchema, () => ({ action: answer, content: {} }));
    const args = command(process.execPath, SERVER);
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env: env(), stderr: 'pipe' }),
    );
  };
  const textOf = async (name: string, args: Record<string, unknown> = {}): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: args });
    return (content as { text: string }[])[0]?.text ?? '';
  };
  const recorded = (): Record<string, unknown>[] =>
    mock.seen(BATCH).flatMap(({ text }) =>
      text.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>),
    ); // prettier-ignore

  it('calls allowed tools, denies the rest, shows only tools that may be called, and records everything', async () => {
    await connect();
    expect((await client.listTools()).tools.map(({ name }) => name)).to.deep.equal([
      'search',
      'transfer',
      'calls',
    ]);
    expect(await textOf('search', { query: 'cats' })).to.equal('found cats');
    expect(await textOf('write', { path: '/' })).to.include('Role may not use this tool.');
    expect(await textOf('transfer', { amount: 1 })).to.include('what_to_do');
    expect(await textOf('calls')).to.equal('1');
    await client.close();

    await eventually(() => recorded().length === 4);
    expect(recorded().map(({ tool_name, outcome }) => `${String(tool_name)} ${String(outcome)}`)).to.deep.equal([
      'search allow', 'write deny', 'transfer needs_approval', 'calls allow',
    ]); // prettier-ignore
    for (const event of recorded())
      expect(event).to.include({ agent_name: 'support-bot', role: 'editor', user_id: 'u-1' });
  });

  for (const answer of ['accept', 'decline'] as const) {
    it(`asks the person at the client, who ${answer}s`, async () => {
      await connect(answer);

      expect(await textOf('transfer', { amount: 5 })).to.match(
        answer === 'accept' ? /^sent 5$/ : /was refused/,
      );
    });
  }

  it('records and answers 1,000 calls, ten at once, each with its own result', async () => {
    await connect();
    const texts: string[] = [];
    for (let done = 0; done < 1_000; done += 10) {
      const ten = Array.from({ length: 10 }, (_, index) => done + index);
      texts.push(
        ...(await Promise.all(
          ten.map((index) => textOf(index % 2 === 0 ? 'search' : 'write', { query: `${index}` })),
        )),
      );
    }
    expect(await textOf('calls')).to.equal('500');
    await client.close();

    for (const [index, text] of texts.entries())
      expect(text).to.match(index % 2 === 0 ? new RegExp(`^found ${index}$`) : /^write is denied/);
    await eventually(() => recorded().length === 1_001);
  });

  it('ends with its server, with the same code, and the server with its client', async () => {
    const ofServer = spawn(process.execPath, command(process.execPath, '-e', 'process.exit(7)'), {
      env: env(),
    });
    expect((await once(ofServer, 'close'))[0]).to.equal(7);
    const script = 'console.error("up"); process.stdin.resume().on("end", () => console.error("ended"))';
    const ofClient = spawn(process.execPath, command(process.execPath, '-e', script), { env: env() });
    let errors = '';
    ofClient.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
      if (errors.includes('up')) ofClient.stdin.end();
    });

    expect((await once(ofClient, 'close'))[0]).to.equal(0);
    expect(errors).to.include('ended');
  });

  it('ends a server that does not read, with its client', async () => {
    const script = 'console.error("up"); setTimeout(() => undefined, 50_000)';
    const gateway = spawn(process.execPath, command(process.execPath, '-e', script), { env: env() });
    await once(gateway.stderr, 'data');
    const progress = {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { text: 'x'.repeat(10_000) },
    };
    gateway.stdin.end(`${JSON.stringify(progress)}\n`.repeat(1_000));

    expect((await once(gateway, 'close'))[0]).to.equal(128 + constants.signals.SIGTERM);
  });

  it('passes on a call whose client ends its input right after it', async () => {
    const gateway = spawn(
      process.execPath,
      command(process.execPath, '-e', 'process.stdin.pipe(process.stdout)'),
      {
        env: env(),
      },
    );
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search', arguments: {} } };
    gateway.stdin.end(`${JSON.stringify(call)}\n`);

    expect(JSON.parse(await text(gateway.stdout))).to.deep.equal(call);
  });

  it('leaves no server running when it is killed', async () => {
    const script = 'console.error(process.pid); process.stdin.resume().on("end", () => process.exit())';
    const gateway = spawn(process.execPath, command(process.execPath, '-e', script), { env: env() });
    const pid = await new Promise<number>((resolve) => {
      gateway.stderr.on(
        'data',
        (chunk: Buffer) => void (/^\d+\n$/.test(chunk.toString()) && resolve(Number(chunk))),
      );
    });
    gateway.kill('SIGKILL');

    await eventually(() => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  });

  it('starts no server without a policy, and says how it is called', async () => {
    const run = async (args: string[]) => {
      const { GATE_API_KEY: _, ...rest } = env();
      const child = spawn(process.execPath, args, { env: rest });
      let errors = '';
      child.stderr.on('data', (chunk: Buffer) => void (errors += chunk.toString()));
      const [code] = (await once(child, 'close')) as [number];
      return { code, errors };
    };
    const bare = await run([
      CLI,
      'mcp',
      '--agent',
      'a',
      '--',
      process.execPath,
      '-e',
      'console.error("started")',
    ]);

    expect(bare.code).to.equal(1);
    expect(bare.errors)
      .to.match(/^No policy/)
      .and.not.include('started');
    for (const wrong of [[], ['--agent', 'a', '--header', 'A: b', '--', 'true']])
      expect(await run([CLI, 'mcp', ...wrong])).to.deep.include({ code: 2 });
  });
});
