import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { adapterContract } from '../support/adapters/contract.ts';
import { aiSdkHarnessOf, type AiSdk } from '../support/adapters/ai-sdk.ts';
import { modelMaking } from '../support/ai-sdk-model.ts';
import { createSigner, publishedAgent, signedRecord } from '../support/platform.ts';
import { runCommand } from '../support/processes.ts';
import { FRAMEWORK_DIRECTORY, imported } from './installed.ts';

type Model = ReturnType<typeof modelMaking>;
type Mocks = Record<string, new (model: object) => Model>;
/** A part of an answer of the model; `ai` 5 has other ends of it. */
type Part = { finishReason?: { unified: string } };

const asIs = (part: object): object => part;
const asInFive = ({ finishReason, ...part }: Part): object =>
  finishReason === undefined
    ? part
    : {
        ...part,
        finishReason: finishReason.unified,
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      };

/** The mock model of another version of the SDK, which makes the same calls. */
function modelMakingOf(Mock: Mocks[string], shaped: (part: Part) => object): typeof modelMaking {
  return (steps, onModel) => {
    const model = modelMaking(steps, onModel);
    return new Mock({
      doGenerate: async (options: never) => shaped(await model.doGenerate(options)),
      doStream: async (options: never) => {
        const { stream } = await model.doStream(options);
        const transform = (part: object, out: TransformStreamDefaultController): void =>
          out.enqueue(shaped(part));
        return { stream: stream.pipeThrough(new TransformStream({ transform })) };
      },
    });
  };
}

for (const { version, mock, shaped } of [
  { version: 5, mock: 'MockLanguageModelV2', shaped: asInFive },
  { version: 6, mock: 'MockLanguageModelV3', shaped: asIs },
]) {
  const sdk = await imported<Omit<AiSdk, 'modelMaking'>>(`ai${version}`);
  const { [mock]: Mock } = await imported<Mocks>(`ai${version}/test`);
  if (Mock === undefined) throw new Error(`ai ${version} has no ${mock}`);
  adapterContract(
    `the Vercel AI SDK ${version}`,
    aiSdkHarnessOf({ ...sdk, modelMaking: modelMakingOf(Mock, shaped) }),
  );
}

const POLICY = 'version: 1\ntools: [search]\nroles: { "*": { allow: [search] } }\nrules: []\n';

const BUNDLED = `
import { bindPolicy } from '@gatehouse/client';
const binding = await bindPolicy({ agentName: 'a', apiKey: 'k', policy: ${JSON.stringify(POLICY)} });
console.log(binding.gate.enabled, (await binding.startRun()).preview('search').outcome);
`;

/** Fails unless a worker thread reads the policy. */
const BLOCKING = `${BUNDLED}binding.startRunSync();`.replace(
  'policy:',
  "localPolicy: 'policy.yaml', policy:",
);

const NEXT_APP = {
  'next.config.mjs': `
const root = ${JSON.stringify(FRAMEWORK_DIRECTORY)};
export default {
  output: 'standalone',
  outputFileTracingRoot: root,
  turbopack: { root },
  serverExternalPackages: ['@gatehouse/client'],
};
`,
  'pages/api/bind.js': `
import { bindPolicy } from '@gatehouse/client';
export default async (_, response) => response.json((await bindPolicy({ agentName: 'a' })).agentName);
`,
};

/** Expects the same of both kinds of modules, under a policy in YAML and a signed one. */
const jestTest = (load: string, publicKey: string): string => `
${load}
const onApproval = () => new Promise(() => undefined);
const signed = { localPolicy: 'record.json', publicKey: '${publicKey}', onApproval, approvalTimeoutMs: 1 };
for (const options of [{ policy: ${JSON.stringify(POLICY)} }, signed])
  test('binds an agent', async () => {
    const run = await (await bindPolicy({ agentName: 'support-bot', ...options })).startRun();
    expect(run.decide('search').outcome).toBe('allow');
    expect(run.decide('write').outcome).toBe('deny');
    if (options === signed)
      await expect(run.call('transfer', {}, () => 0)).rejects.toMatchObject({ approval: 'timed_out' });
  });
`;

describe('the packed client', () => {
  it('has no types that are wrong, where require takes ES modules', async () => {
    const tarball = readdirSync(FRAMEWORK_DIRECTORY).find((name) => name.endsWith('.tgz')) ?? '';
    const args = ['attw', '--ignore-rules', 'cjs-resolves-to-esm', '--', tarball];
    const { code, output } = await runCommand('npx', args, { cwd: FRAMEWORK_DIRECTORY });

    expect(code, output).to.equal(0);
    expect(output).to.include('No problems found');
  });

  it('runs in Jest, with import and with require', async () => {
    const signer = await createSigner();
    const record = await signedRecord(publishedAgent(), signer);
    await writeFile(join(FRAMEWORK_DIRECTORY, 'record.json'), JSON.stringify(record));
    await writeFile(
      join(FRAMEWORK_DIRECTORY, 'import.test.mjs'),
      jestTest(`import { bindPolicy } from '@gatehouse/client';`, signer.publicKey),
    );
    await writeFile(
      join(FRAMEWORK_DIRECTORY, 'require.test.cjs'),
      jestTest(`const { bindPolicy } = require('@gatehouse/client');`, signer.publicKey),
    );
    const args = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];
    const { code, output } = await runCommand(process.execPath, args, { cwd: FRAMEWORK_DIRECTORY });

    expect(code, output).to.equal(0);
    expect(output).to.include('4 passed, 4 total');
  });

  it('runs in a bundle in Bun, where a blocking refresh says what is missing', async () => {
    await writeFile(join(FRAMEWORK_DIRECTORY, 'policy.yaml'), POLICY);
    await writeFile(join(FRAMEWORK_DIRECTORY, 'blocking.mjs'), BLOCKING);
    const options = { cwd: FRAMEWORK_DIRECTORY };
    const args = ['bun', 'build', 'blocking.mjs', '--target=bun', '--outfile=dist/blocking.js'];
    const built = await runCommand('npx', args, options);
    expect(built.code, built.output).to.equal(0);
    // Ended from outside, because it could wait forever.
    const { output } = await runCommand(
      'timeout',
      ['30', 'node_modules/.bin/bun', 'dist/blocking.js'],
      options,
    );

    expect(output)
      .to.match(/^true allow$/m)
      .and.include('worker_unavailable');
  });

  it('runs in a bundle of webpack', async () => {
    await writeFile(join(FRAMEWORK_DIRECTORY, 'bundled.mjs'), BUNDLED);
    const args = [
      'webpack',
      '--mode=production',
      '--target=node',
      '--entry=./bundled.mjs',
      '--output-filename=bundle.cjs',
    ];
    const built = await runCommand('npx', args, { cwd: FRAMEWORK_DIRECTORY });
    expect(built.code, built.output).to.equal(0);
    const { output } = await runCommand(process.execPath, ['dist/bundle.cjs'], { cwd: FRAMEWORK_DIRECTORY });

    expect(output.trim()).to.equal('true allow');
  });

  it('blocks where Next.js leaves it external and copies the files that it needs', async () => {
    const app = join(FRAMEWORK_DIRECTORY, 'next');
    await mkdir(join(app, 'pages/api'), { recursive: true });
    for (const [name, text] of Object.entries(NEXT_APP)) await writeFile(join(app, name), text);
    const env = { NEXT_TELEMETRY_DISABLED: '1' };
    const built = await runCommand('npx', ['next', 'build', '--turbopack'], { cwd: app, env });
    expect(built.code, built.output).to.equal(0);
    const cwd = join(app, '.next/standalone');
    await writeFile(join(cwd, 'policy.yaml'), POLICY);
    await writeFile(join(cwd, 'blocking.mjs'), BLOCKING);
    const { code, stdout, output } = await runCommand(process.execPath, ['blocking.mjs'], { cwd });

    expect(code, output).to.equal(0);
    expect(stdout).to.equal('true allow\n');
  }).timeout(600_000);
});
