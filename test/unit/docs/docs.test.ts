import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createTypescriptEngine, parsePolicy } from '../../../client/policy/language/index.ts';
import { USAGE } from '../../../server/cli/commands.ts';
import { PROBLEMS } from '../../../server/errors.ts';
import { createMetrics } from '../../../server/metrics.ts';
import { openapiDocument } from '../../../server/openapi/document.ts';
import { DECLARATIONS } from '../../support/declarations.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const text = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const git = (...args: string[]) =>
  spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
/** Matches in all tracked files but this one, which names what it looks for. */
const found = (pattern: string) => git('grep', '-IoE', pattern, '--', '.', ':!test/unit/docs');

const protocol = text('docs/protocol.md');
const variablesOf = (source: string) => [...new Set(source.match(/\b(?:GATE|MAILER)_[A-Z_]+\b/g))];

/** The statuses that any call may have. */
const OF_EVERY_CALL = ['431', '500'];

const sectionOf = (document: string, heading: string) =>
  document.split(`\n${heading}\n`)[1]?.split('\n### ')[0] ?? '';

/** As GitHub makes the anchor of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

describe('the help of make and of the command line', () => {
  it('has columns that start below each other, in at most 100 characters', () => {
    const targets = spawnSync('make', ['-s', 'help'], { cwd: ROOT, encoding: 'utf8' }).stdout.split('\n');
    const columns = targets.filter(Boolean).map((line) => /^ {2}make \S+ +/.exec(line)?.[0].length);

    expect(new Set(columns)).to.have.property('size', 1);
    expect([...targets, ...USAGE.split('\n')].filter(({ length }) => length > 100)).to.deep.equal([]);
  });
});

describe('the documents', () => {
  it('name every error code with its status', () => {
    for (const [code, { status }] of Object.entries(PROBLEMS))
      expect(protocol).to.match(new RegExp(`\\| \`${code}\` +\\| +${status} \\|`));
  });

  it('name every metric', async () => {
    const metrics = await createMetrics({
      isStoreUp: () => Promise.resolve(true),
    }).registry.getMetricsAsJSON();
    const own = metrics.map(({ name }) => name).filter((name) => name.startsWith('gate_'));
    expect(own.filter((name) => !protocol.includes(`\`${name}\``))).to.deep.equal([]);
  });

  it('name every path of the OpenAPI document', () => {
    const paths = Object.keys(openapiDocument(DECLARATIONS).paths);
    const namesOf = (path: string) =>
      ['', '/v1/projects/{id}/audit', '/v1/projects/{id}'].map((head) => path.replace(head, head && '…'));
    const isNamed = (path: string) => namesOf(path).some((name) => protocol.includes(` ${name}\``));
    expect(paths.filter((path) => !isNamed(path))).to.deep.equal([]);
  });

  it('list the statuses of ingest', () => {
    const { paths } = openapiDocument(DECLARATIONS);
    const declared = (path: string) =>
      Object.keys(Object(paths[path])['post'].responses).filter((status) => !OF_EVERY_CALL.includes(status));
    const listed = (heading: string) =>
      Array.from(sectionOf(protocol, heading).matchAll(/^\| (\d{3}) /gm), ([, status]) => status);

    expect(listed('### `POST /v1/audit/decisions`')).to.deep.equal(declared('/v1/audit/decisions'));
    expect(listed('### Batches')).to.deep.equal(declared('/v1/audit/decisions/batch'));
  });

  it('name every variable of the service and of the client', () => {
    const missing = (variables: string[], document: string) =>
      variables.filter((name) => !document.includes(`\`${name}\``));
    expect(missing(variablesOf(text('server/config.ts')), text('README.md'))).to.deep.equal([]);
    expect(missing(variablesOf(text('client/config.ts')), text('docs/client.md'))).to.deep.equal([]);
  });

  it('name every option of the client', () => {
    const [, options = ''] = /const OPTIONS[^]*?\{\n([^]*?)\n\};/.exec(text('client/options.ts')) ?? [];
    const names = Array.from(options.matchAll(/^ +(\w+): /gm), ([, name = '']) => name);
    const readme = text('client/README.md');

    expect(names).to.have.length.above(20);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(readme))).to.deep.equal([]);
  });

  it('link to files and headings that exist', () => {
    const broken: string[] = [];
    for (const file of git('ls-files', '*.md')) {
      for (const [, target = ''] of text(file).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [path = '', anchor] = target.split('#');
        const linked = path === '' ? file : join(dirname(file), path);
        if (!existsSync(join(ROOT, linked))) broken.push(`${file}: ${target}`);
        else if (anchor !== undefined) {
          const anchors = [...text(linked).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
            anchorOf(heading),
          );
          if (!anchors.includes(anchor)) broken.push(`${file}: ${target}`);
        }
      }
    }
    expect(broken).to.deep.equal([]);
  });

  it('list every decision by its title', () => {
    const index = text('docs/decisions/README.md').replaceAll(/ +\|/g, ' |');
    const missing = git('ls-files', 'docs/decisions/0*.md').filter((file) => {
      const [, title = ''] = /^# \d+\. (.*)$/m.exec(text(file)) ?? [];
      return !index.includes(`(${basename(file)}) | ${title} |`);
    });
    expect(missing).to.deep.equal([]);
  });

  it('name tests that exist', () => {
    const tests = git('ls-files', 'test');
    const named = text('SECURITY.md').match(/[\w./-]+\.test\.ts/g) ?? [];

    expect(named.length).to.be.above(20);
    expect(named.filter((name) => !tests.some((path) => path.endsWith(name)))).to.deep.equal([]);
  });

  it('are cited by file and heading, and no document is cited that is not here', () => {
    const broken = found('docs/[a-z0-9/-]+\\.md(, "[^"]+")?').filter((citation) => {
      const [, file = '', heading] = /:(docs[^,]*)(?:, "(.*)")?$/.exec(citation) ?? [];
      return (
        !existsSync(join(ROOT, file)) || (heading !== undefined && !text(file).includes(`# ${heading}\n`))
      );
    });
    expect(broken).to.deep.equal([]);
    expect(
      found('SPECIFICATION|CONTRACT\\b|POLICY( [0-9]|\\.md)|STYLE\\.md|[Ss]pec(ification)? [0-9]'),
    ).to.deep.equal([]);
  });

  it('show policies that parse and decide as they say', () => {
    const policiesOf = (file: string) =>
      Array.from(text(file).matchAll(/^```yaml\n(version: 1[^]*?)^```/gm), ([, policy = '']) =>
        parsePolicy(policy),
      );
    const [example, ...others] = [...policiesOf('docs/policy.md'), ...policiesOf('README.md')];
    expect(others).to.have.lengthOf(2);
    for (const policy of others) expect(policy).to.include({ ok: true });
    if (example?.ok !== true) throw new Error(JSON.stringify(example));
    const engine = createTypescriptEngine(example.ir);
    const decisions = [...text('docs/policy.md').matchAll(/^(\{"tool".*)\n(\{"outcome".*)$/gm)];
    expect(decisions).to.have.lengthOf(5);
    for (const [, call = '', result] of decisions) expect(engine.decideText(call)).to.equal(result);
  });
});
