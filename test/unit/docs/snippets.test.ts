import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { startMockServer, type MockServer } from '../../support/mock-server.ts';
import {
  conditionally,
  createSigner,
  publishedAgent,
  serveKeys,
  signedRecord,
} from '../../support/platform.ts';
import { runCommand } from '../../support/processes.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const WORLDS = globSync(join(import.meta.dirname, 'fixtures/*.ts'));
const DOCUMENTS = ['README.md', 'client/README.md', 'docs/client.md'];

type Snippet = { name: string; source: string };

/** Every snippet of a document, with what it takes from the program around it. */
function snippetsOf(document: string): Snippet[] {
  const blocks = readFileSync(join(ROOT, document), 'utf8').matchAll(/^```(?:ts|js)\n([^]*?)^```/gm);
  return Array.from(blocks, ([, code = ''], index) => {
    const imports = WORLDS.map((world) => importFrom(world, code)).join('');
    const source = `${imports}${code}\nprocess.exit();\n`;
    return { name: `${document.replaceAll(/\W/g, '-')}-${index + 1}`, source };
  });
}

/** The import of what a snippet takes from one of the programs around it. */
function importFrom(world: string, code: string): string {
  const given = readFileSync(world, 'utf8').matchAll(/^export const (\w+)/gm);
  const names = Array.from(given, ([, name = '']) => name);
  const used = names.filter((name) => new RegExp(`(?<![.\\w])${name}\\b(?!:)`).test(code));
  return used.length > 0 ? `import { ${used.join(', ')} } from './${basename(world, '.ts')}.js';\n` : '';
}

describe('the snippets of the documents', () => {
  const snippets = DOCUMENTS.flatMap(snippetsOf);
  let mock: MockServer;
  let folder: string;
  let env: Record<string, string>;

  before(async () => {
    // The snippets import the package as its users do.
    expect(existsSync(join(ROOT, 'client/dist/index.js')), 'the client is built: npm run build').to.equal(
      true,
    );
    // Below the root, where the packages are found.
    folder = await mkdtemp(join(ROOT, 'node_modules/.snippets-'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    for (const world of WORLDS) await copyFile(world, join(folder, basename(world)));
    for (const { name, source } of snippets) await writeFile(join(folder, `${name}.ts`), source);
    const signer = await createSigner();
    const key = await signer.bearerKey('p-1');
    mock = await startMockServer();
    serveKeys(mock, signer);
    const registered = { agent_id: 'a-1', agent_version_id: 'v-1', version: 1 };
    mock.on('POST /v1/agents', { status: 201, json: registered });
    mock.on('GET /v1/agents/support-bot', conditionally(await signedRecord(publishedAgent(), signer)));
    for (const path of ['/v1/audit/decisions', '/v1/audit/decisions/batch'])
      mock.on(`POST ${path}`, { status: 202 });
    env = { GATE_BASE_URL: mock.url, GATE_KEY: key, GATE_API_KEY: key };
  });

  after(async () => {
    await mock.close();
    await rm(folder, { recursive: true });
  });

  it('compile in strict TypeScript', async () => {
    expect(snippets).to.have.length.above(4);
    const flags =
      '--ignoreConfig --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --skipLibCheck --target es2022 --module nodenext --types node';
    const files = [...WORLDS.map((world) => basename(world)), ...snippets.map(({ name }) => `${name}.ts`)];
    const { code, output } = await runCommand(
      join(ROOT, 'node_modules/.bin/tsc'),
      [...flags.split(' '), ...files],
      {
        cwd: folder,
      },
    );

    expect(output).to.equal('');
    expect(code).to.equal(0);
  });

  for (const { name } of snippets) {
    it(`run: ${name}`, async () => {
      const { code, output } = await runCommand(process.execPath, [`${name}.js`], { cwd: folder, env });

      expect(/Error|Warn|rejected/.test(output), output).to.equal(false);
      expect(code, output).to.equal(0);
    });
  }
});
