import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProject, gate, issueKey } from '../support/gate.ts';
import { runGate } from '../support/processes.ts';
import { storeDirectory, temporaryDirectory } from '../support/service.ts';

type ListedKey = {
  key_id: string;
  name: string;
  scope: string;
  agents: string[];
  revoked_at: string | null;
};

type Rotated = { kid?: string; previous_kid?: string; next_step?: string };

describe('the command line', () => {
  const dataDir = temporaryDirectory();

  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    it(`rejects "${name}" as a command and prints no configuration`, async () => {
      const env = { MAILER_API_KEY: 'mail-key-7', GATE_EMAIL_FROM: 'gate@example.com' };

      const { code, stdout, stderr } = await runGate({ dataDir, args: [name], env });

      expect([code, stdout, stderr.split('\n')[0]]).to.deep.equal([1, '', `There is no command "${name}".`]);
      expect(stdout + stderr).not.to.contain('mail-key-7');
    });
  }

  for (const [name, ...more] of [['verify'], ['mirror', '--to', temporaryDirectory()]] as const)
    it(`audit ${name} needs no configuration`, async () => {
      const args = ['audit', name, '--project', 'p', '--url', 'http://127.0.0.1:1', ...more];

      const { code, stderr } = await runGate({ dataDir, args, env: { GATE_PORT: 'none' } });

      expect(code).not.to.equal(0);
      expect(stderr).to.contain('127.0.0.1:1').and.not.to.contain('configuration');
    });

  it('reports an invalid configuration in a command that uses it', async () => {
    const { code, stderr } = await runGate({
      dataDir,
      args: ['project', 'list'],
      env: { GATE_PORT: 'none' },
    });

    expect(code).to.equal(1);
    expect(stderr).to.match(/^The configuration is not valid:\n {2}- GATE_PORT /);
  });

  for (const [args, fault] of [
    ['project list --nmae x', "Unknown option '--nmae'"],
    ['project list --key x', "Unknown option '--key'"],
    ['key revoke --project p --key one --key two', '--key is given twice.'],
    ['key revoke --key one', '--project is missing.'],
  ] as const)
    it(`reports a fault of "${args}" with the usage of this command alone`, async () => {
      const [noun, verb] = args.split(' ');
      const { code, stdout, stderr } = await runGate({
        dataDir: await storeDirectory(),
        args: args.split(' '),
      });

      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr.startsWith(fault), stderr).to.equal(true);
      expect(stderr.match(/^ {2}\w.*/gm)).to.have.length(1);
      expect(stderr).to.contain(`\n  ${noun} ${verb}`).and.not.contain('\n    at ');
    });

  it('takes the option --agent several times, and prints the usage of one command', async () => {
    const { code, stdout } = await runGate({
      dataDir,
      args: 'key issue --agent a --agent b --help'.split(' '),
    });

    expect([code, stdout.match(/^ {2}\w.*/gm)?.length]).to.deep.equal([0, 1]);
    expect(stdout).to.contain('key issue --project ID');
  });

  it('prints the stack of an unexpected error', async () => {
    const broken = 'console.table=()=>{throw%20new%20TypeError(`planted`)}';
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${broken}` };

    const { code, stderr } = await runGate({
      dataDir: await storeDirectory(),
      args: ['project', 'list'],
      env,
    });

    expect(code).to.equal(1);
    expect(stderr).to.match(/^TypeError: planted\n    at [^]*\n    at .*run/);
  });

  it('creates nothing where no store is, but for "project create"', async () => {
    const to = join(temporaryDirectory(), 'to');
    const commands = ['project list', 'key issue --project p', `export --to ${to}`, `backup --to ${to}`];
    const empty = temporaryDirectory();

    for (const words of commands) {
      const { code, stdout, stderr } = await runGate({ dataDir: empty, args: words.split(' ') });
      const text = `There is no store in ${empty}. Set GATE_DATA_DIR to the data directory of the service.\n`;
      expect([code, stdout, stderr], words).to.deep.equal([1, '', text]);
    }

    expect([readdirSync(empty), existsSync(to)]).to.deep.equal([[], false]);
    await createProject(empty, 'first');
  });

  it('makes no root key for a store that has one elsewhere, and needs none to list and revoke keys', async () => {
    const other = temporaryDirectory();
    const { project_id, key_id } = await createProject(other, 'Keys');
    const path = join(other, 'signing-key.pem');
    rmSync(path);
    const project = ['--project', project_id];

    const issued = await runGate({ dataDir: other, args: ['key', 'issue', ...project] });
    const rotated = await runGate({ dataDir: other, args: ['key', 'rotate'] });
    await gate(other, 'project', 'create', '--name', 'second');
    const revoked = await gate(other, 'key', 'revoke', ...project, '--key', key_id);

    expect([issued.code, rotated.code]).to.deep.equal([1, 1]);
    for (const { stderr } of [issued, rotated])
      expect(stderr).to.contain(`There is no root key in ${other}. Set GATE_SIGNING_KEY`);
    expect(revoked).to.deep.equal({ key_id, revoked: true });
    expect((await gate<ListedKey[]>(other, 'key', 'list', ...project)).length).to.equal(1);
    expect(existsSync(path)).to.equal(false);
  });

  it('says what is wrong with files that it cannot use, without a stack', async () => {
    const other = await storeDirectory();
    const [directory, file] = [temporaryDirectory(), join(temporaryDirectory(), 'file')];
    writeFileSync(file, '');
    writeFileSync(join(directory, 'manifest.json'), '{"format":');
    const audit = `audit verify --project p --export ${file} --proofs ${file} --log ${directory}`;
    const texts = {
      [`import --from ${directory}`]:
        /manifest\.json is not the manifest of an export\. Export into a new directory\./,
      [`export --to ${directory}`]:
        /manifest\.json is not the manifest of an export\. Export into a new directory\./,
      [`import --from ${file}`]: /manifest\.json cannot be used \(ENOTDIR\)\./,
      [`export --to ${file}/to`]: /manifest\.json cannot be used \(ENOTDIR\)\./,
      [`backup --to ${file}/to`]:
        /to\.unfinished-\w* cannot be used \(ENOTDIR\)|file cannot be used \(EEXIST\)|to cannot be used \(ENOTDIR\)/,
      [`restore --from ${file}`]: /does not contain a whole backup\./,
      [`${audit} --state ${directory}`]: /--state takes a file, and .* is a directory\./,
    };

    for (const [words, text] of Object.entries(texts)) {
      const { code, stdout, stderr } = await runGate({ dataDir: other, args: words.split(' ') });
      expect([code, stdout, stderr.trimEnd().split('\n').length], stderr).to.deep.equal([1, '', 1]);
      expect(stderr).to.match(text).and.not.contain('GATE_DATA_DIR');
    }

    writeFileSync(join(other, 'signing-key.pem'), 'no key');
    const { code, stderr } = await runGate({ dataDir: other, args: ['project', 'list'] });
    expect(code).to.equal(1);
    expect(stderr).to.match(/- The key in .*signing-key\.pem cannot be read; it must be .* PKCS#8 PEM\n$/);
    expect(readFileSync(file, 'utf8')).to.equal('');
  });

  it('accepts the same project names as POST /v1/projects', async () => {
    const create = (name: string) =>
      runGate({ dataDir, args: ['project', 'create', '--name', name, '--json'] });

    const refused = [await create('   '), await create('x'.repeat(101))];
    const taken = [await create('  Support '), await create('x'.repeat(100))];

    expect(refused.map(({ code, stderr }) => [code, stderr])).to.deep.equal([
      [1, '/name must not be blank\n'],
      [1, '/name must have at most 100 characters\n'],
    ]);
    expect(taken.map(({ code }) => code)).to.deep.equal([0, 0]);
    const names = (await gate<{ name: string }[]>(dataDir, 'project', 'list')).map(({ name }) => name);
    expect(names).to.deep.equal(['Support', 'x'.repeat(100)]);
  });

  it('reports an unknown project in every command that takes one', async () => {
    const commands = ['key issue', 'key list', 'key revoke --key x', 'member list', 'verify'];
    const answers = commands.map(async (words) =>
      runGate({ dataDir: await storeDirectory(), args: [...words.split(' '), '--project', 'nope'] }),
    );

    for (const { code, stdout, stderr } of await Promise.all(answers))
      expect([code, stdout, stderr.trim()]).to.deep.equal([
        1,
        '',
        'There is no project nope. "project list" lists the projects.',
      ]);
  });

  it('issues keys with rights, and lists them with their state but without their values', async () => {
    const kept = await createProject(dataDir, 'Keys');
    const project = ['--project', kept.project_id];
    const revoked = await issueKey(
      dataDir,
      kept.project_id,
      '--name',
      'ci',
      '--scope',
      'edit_policy',
      '--agent',
      'a',
      '--agent',
      'b, c',
    );
    await gate(dataDir, 'key', 'revoke', ...project, '--key', revoked.key_id);

    const listed = await gate<ListedKey[]>(dataDir, 'key', 'list', ...project);

    const states = listed.map(({ key_id, name, scope, agents, revoked_at }) => [
      [key_id, name, scope],
      agents,
      revoked_at !== null,
    ]);
    expect(states).to.have.deep.members([
      [[kept.key_id, '', 'emit_audit read_audit'], [], false],
      [[revoked.key_id, 'ci', 'edit_policy'], ['a', 'b, c'], true],
    ]);
    expect(JSON.stringify(listed)).not.to.contain(kept.key);
    const { code, stderr } = await runGate({
      dataDir,
      args: ['key', 'issue', ...project, '--scope', 'root'],
    });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^\/scope must be one or more of emit_audit, .* with a space between them\n$/);
  });

  it('key rotate says where the next GATE_SIGNING_KEY is, and resumes until it is in use', async () => {
    const dataDir = await storeDirectory();
    const env = { GATE_SIGNING_KEY: randomBytes(32).toString('base64') };
    const left = join(dataDir, `signing-key-${randomBytes(32).toString('base64url')}.pem`);
    writeFileSync(left, 'of a rotation that was killed at once');
    const rotate = async (variables: Record<string, string>) => {
      const ended = await runGate({ dataDir, args: ['key', 'rotate', '--json'], env: variables });
      return { ...ended, ...(ended.code === 0 ? (JSON.parse(ended.stdout) as Rotated) : {}) };
    };

    const first = await rotate(env);
    const resumed = await rotate(env);
    const file = join(dataDir, `signing-key-${first.kid}.pem`);
    const mode = statSync(file).mode & 0o777;
    const args = ['key', 'forget', '--key', String(first.kid)];
    const inUse = await runGate({ dataDir, args, env: { GATE_SIGNING_KEY: file } });
    const later = await rotate({ GATE_SIGNING_KEY: file });
    rmSync(join(dataDir, `signing-key-${later.kid}.pem`));
    const lost = await rotate({ GATE_SIGNING_KEY: file });

    expect(first.stderr).to.equal(
      `${left} belongs to no rotation: an interrupted one left it. Delete the file.\n`,
    );
    expect(first.next_step).to.contain(`Set GATE_SIGNING_KEY to the key in ${file}`);
    expect(first.output).not.to.contain(env.GATE_SIGNING_KEY);
    expect(mode).to.equal(0o600);
    expect(resumed).to.include({ kid: first.kid, previous_kid: first.previous_kid });
    expect([inUse.code, inUse.stderr]).to.deep.equal([
      1,
      'This is the root key in use, and the ones before it are forgotten by their own --key.\n',
    ]);
    expect(later.previous_kid).to.equal(first.kid);
    expect(lost.stderr).to.contain(`was replaced by ${later.kid}, whose file is not in`);
  });
});
